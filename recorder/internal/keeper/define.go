package keeper

import (
	"gprof/rawformat"
	"gprof/recorder/internal/registry"
)

// definitions is how a recording takes what the registry holds.
type definitions struct{ k *Keeper }

func (d definitions) Define(records [][]byte) { d.k.define(records) }

func (d definitions) LoseDefinition() { d.k.rec.Lose(rawformat.LostDictionary, 1, 0) }

func (d definitions) Wants(track string) bool { return d.k.rec.Wants(track) }

// define writes those of the registry's records that the dictionary does not have yet, as
// many as there is room for. The rest is counted, once. The registry's lock is held.
func (k *Keeper) define(records [][]byte) {
	have := k.rec.Defined()
	have += k.dict.Define(records[have:]...)
	k.rec.SetDefined(have)
	if left := len(records) - max(have, k.refused); left > 0 {
		k.refused = len(records)
		k.rec.Lose(rawformat.LostDictionary, uint64(left), 0)
	}
}

// The functions below make fields of the recorder's own events.

func textField(name string) registry.FieldSpec {
	return registry.FieldSpec{Name: name, Wire: rawformat.WireText, Size: 16, Unit: rawformat.FormatText}
}

func numberField(name string, wire rawformat.WireType, unit rawformat.Format) registry.FieldSpec {
	return registry.FieldSpec{Name: name, Wire: wire, Size: 8, Unit: unit}
}

func labelled(label string, f registry.FieldSpec) registry.FieldSpec {
	f.Label = label
	return f
}
