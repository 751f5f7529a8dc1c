package logs

import (
	"log/slog"

	"gprof/recorder"
)

var logged = recorder.NewEventN("log", []recorder.AnyField{
	recorder.Word("level"), recorder.Secret("message").Searchable(), recorder.Secret("attributes").Searchable(),
	recorder.User("user"), recorder.Path("path"), recorder.URL("url"), recorder.Secret("secret"), recorder.String("plain").Searchable(),
}, recorder.Type("log"), recorder.ChartLabel("{marker.data.message}"), recorder.TableLabel("{marker.data.level}: {marker.data.message} {marker.data.attributes} {marker.data.plain}"),
	recorder.Description("a record of log/slog"), recorder.Category("Log", "grey"))

// Each level is an event whose category has a colour.
var (
	informs = logged.In(recorder.NewCategory("Log", "blue", "info"))
	warns   = logged.In(recorder.NewCategory("Log", "orange", "warn"))
	fails   = logged.In(recorder.NewCategory("Log", "red", "error"))
)

// events are those of records by the class of their level.
var events = [...]recorder.EventN{logged, informs, warns, fails}

// classOf is the class of a level; levels between the named ones count as the one below.
func classOf(level slog.Level) int { return min(max(0, int((level-slog.LevelDebug)/4)), len(events)-1) }
