//go:build linux

package main

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/pocketbase/pocketbase"
	"github.com/pocketbase/pocketbase/apis"
	"github.com/pocketbase/pocketbase/core"
	"github.com/pocketbase/pocketbase/tools/types"
)

const notes = 100 // records

// startPocketBase serves pages of ten records each from SQLite.
func startPocketBase(dir string) (s served, err error) {
	app := pocketbase.NewWithConfig(pocketbase.Config{DefaultDataDir: filepath.Join(dir, "pocketbase"), HideStartBanner: true})
	if err := app.Bootstrap(); err != nil {
		return s, err
	}
	if err := app.RunAllMigrations(); err != nil {
		return s, err
	}
	if err := fillNotes(app); err != nil {
		return s, err
	}
	router, err := apis.NewRouter(app)
	if err != nil {
		return s, err
	}
	mux, err := router.BuildMux()
	if err != nil {
		return s, err
	}
	address, stop, err := serveHTTP(mux)
	s = served{address, numbered("/api/collections/notes/records?perPage=10&page=", notes/10), func() { stop(); app.ResetBootstrapState() }}
	return s, err
}

func fillNotes(app core.App) error {
	c := core.NewBaseCollection("notes")
	c.Fields.Add(&core.TextField{Name: "title"}, &core.TextField{Name: "body"}, &core.NumberField{Name: "rank"})
	c.ListRule = types.Pointer("") // everybody's
	if err := app.Save(c); err != nil {
		return err
	}
	for i := range notes {
		r := core.NewRecord(c)
		r.Set("title", fmt.Sprint("note ", i))
		r.Set("body", strings.Repeat("text ", 40))
		r.Set("rank", i)
		if err := app.Save(r); err != nil {
			return err
		}
	}
	return nil
}
