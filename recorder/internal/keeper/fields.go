package keeper

import (
	"gprof/rawformat"
	"gprof/recorder/internal/registry"
)

// Fields of the recorder's own events.

func textField(name string) registry.FieldSpec {
	return registry.FieldSpec{Name: name, Wire: rawformat.WireText, Size: 16, Unit: rawformat.FormatText}
}

func numberField(name string, wire rawformat.WireType, unit rawformat.Format) registry.FieldSpec {
	return registry.FieldSpec{Name: name, Wire: wire, Size: 8, Unit: unit}
}
