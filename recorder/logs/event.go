package logs

import (
	"log/slog"

	"gprof/recorder"
)

var logged = recorder.NewEventN("log", []recorder.AnyField{
	recorder.Word("level"), recorder.String("message").Searchable(), recorder.String("attributes").Searchable(),
	recorder.User("user"), recorder.Path("path"), recorder.URL("url"), recorder.Secret("secret"),
}, recorder.Type("log"), recorder.ChartLabel("{marker.data.message}"), recorder.TableLabel("{marker.data.level}: {marker.data.message} {marker.data.attributes}"),
	recorder.Description("a record of log/slog"), recorder.Category("Log", "grey"))

// Each level is an event whose category has a colour.
var (
	informs = logged.In(recorder.NewCategory("Log", "blue", "info"))
	warns   = logged.In(recorder.NewCategory("Log", "orange", "warn"))
	fails   = logged.In(recorder.NewCategory("Log", "red", "error"))
)

// eventOf is the event of records of a level; levels between the named ones count as the one
// below.
func eventOf(level slog.Level) recorder.EventN {
	switch {
	case level >= slog.LevelError:
		return fails
	case level >= slog.LevelWarn:
		return warns
	case level >= slog.LevelInfo:
		return informs
	}
	return logged
}
