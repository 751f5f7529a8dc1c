package debug

import (
	"encoding/json"
	"html/template"
	"strings"
	"time"
)

// row is one process of the list.
type row struct {
	Instance string     `json:"instance"`
	State    string     `json:"state"` // recording, crashed
	Service  string     `json:"service,omitempty"`
	Pid      string     `json:"pid,omitempty"`
	Start    *time.Time `json:"start,omitempty"`
	Bytes    int64      `json:"bytes"`
	Snapshot string     `json:"snapshot"` // where it can be fetched
}

// list shows live and crashed processes. Processes that ended in order are left out.
func (h *handler) list(s *request) {
	rows := []row{}
	for i := range s.processes {
		if r := newRow(&s.processes[i]); r.State != "" {
			rows = append(rows, r)
		}
	}
	s.w.Header().Set("Cache-Control", "no-store")
	if s.r.FormValue("format") == "json" || strings.Contains(s.r.Header.Get("Accept"), "application/json") {
		s.w.Header().Set("Content-Type", "application/json")
		json.NewEncoder(s.w).Encode(map[string][]row{"processes": rows})
		return
	}
	s.w.Header().Set("Content-Type", "text/html; charset=utf-8")
	page.Execute(s.w, rows)
}

func newRow(p *process) row {
	r := row{Instance: p.name(), Service: p.service, Pid: p.pid, Bytes: p.bytes}
	r.Snapshot = root + "snapshot?instance=" + r.Instance
	switch {
	case p.live:
		r.State = "recording"
	case p.crashed:
		r.State = "crashed"
	}
	if p.start.real != 0 {
		start := time.Unix(0, p.start.real).UTC()
		r.Start = &start
	}
	return r
}

var page = template.Must(template.New("list").Parse(`<!doctype html>
<meta charset="utf-8">
<title>gprof recordings</title>
<style>body{font-family:sans-serif}td,th{padding:.2em 1em;text-align:left}td:nth-child(6){text-align:right}</style>
<h1>Recordings</h1>
<p><a href="/debug/gprof/snapshot?last=60s">last minute of all that record</a>,
<a href="/debug/gprof/snapshot">all of them</a>, <a href="/debug/gprof/crashed">all that crashed</a>,
<a href="/debug/gprof/triggered">what triggers kept</a></p>
<table>
<tr><th>process<th>state<th>service<th>pid<th>since<th>bytes
{{range .}}<tr><td><a href="{{.Snapshot}}">{{.Instance}}</a><td>{{.State}}<td>{{.Service}}<td>{{.Pid}}<td>{{if .Start}}{{.Start.Format "2006-01-02 15:04:05Z"}}{{end}}<td>{{.Bytes}}
{{else}}<tr><td colspan="6">none
{{end}}</table>
`))
