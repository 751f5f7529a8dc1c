//go:build linux

package main

import (
	"bytes"
	"net/http"
	"path/filepath"
	"strconv"

	"github.com/dgraph-io/badger/v4"
)

const (
	values = 10000 // in the store
	looks  = 20    // at values, for each request
)

// startBadger serves from an embedded store: each request reads some values, each tenth
// writes one.
func startBadger(dir string) (s served, err error) {
	db, err := badger.Open(badger.DefaultOptions(filepath.Join(dir, "badger")).WithLogger(nil).WithValueLogFileSize(64 << 20))
	if err != nil {
		return s, err
	}
	batch := db.NewWriteBatch()
	for i := range values {
		if err := batch.Set(valueKey(i), bytes.Repeat([]byte("v"), 256)); err != nil {
			return s, err
		}
	}
	if err := batch.Flush(); err != nil {
		return s, err
	}
	address, stop, err := serveHTTP(storeHandler{db})
	return served{address, numbered("/", 1000), func() { stop(); db.Close() }}, err
}

func valueKey(i int) []byte { return []byte(strconv.Itoa(i * 7919 % values)) }

type storeHandler struct{ db *badger.DB }

func (h storeHandler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	n, err := strconv.Atoi(r.URL.Path[1:])
	if err == nil {
		err = h.db.View(func(txn *badger.Txn) error { return readValues(txn, w, n) })
	}
	if err == nil && n%10 == 0 {
		err = h.db.Update(func(txn *badger.Txn) error { return txn.Set(valueKey(n), bytes.Repeat([]byte("w"), 256)) })
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
	}
}

func readValues(txn *badger.Txn, w http.ResponseWriter, n int) error {
	for i := range looks {
		item, err := txn.Get(valueKey(n*looks + i))
		if err != nil {
			return err
		}
		if err := item.Value(func(v []byte) error { _, err := w.Write(v); return err }); err != nil {
			return err
		}
	}
	return nil
}
