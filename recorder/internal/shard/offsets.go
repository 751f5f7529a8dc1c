package shard

import (
	"unsafe"

	"gprof/recorder/internal/registry"
	"gprof/recorder/internal/rt"
)

//lint:file-ignore U1000 assembly uses what is here

// Offsets of fields in other packages' structs, for assembly: go_asm.h has only constants
// and the offsets of this package's own fields.
const (
	clockCounter = unsafe.Offsetof(rt.Clock{}.Counter)
	routeM       = unsafe.Offsetof(rt.Route{}.M)
	routeP       = unsafe.Offsetof(rt.Route{}.P)

	definitionHead       = unsafe.Offsetof(registry.Definition{}.Head)
	definitionHeadLen    = unsafe.Offsetof(registry.Definition{}.HeadLen)
	definitionShape      = unsafe.Offsetof(registry.Definition{}.Shape)
	definitionBehindTime = unsafe.Offsetof(registry.Definition{}.BehindTime)
	definitionPlainSeq   = unsafe.Offsetof(registry.Definition{}.PlainSeq)
	definitionFields     = unsafe.Offsetof(registry.Definition{}.Fields)
	definitionFirst      = unsafe.Offsetof(registry.Definition{}.First)

	trackID       = unsafe.Offsetof(registry.Track{}.ID)
	trackSeq      = unsafe.Offsetof(registry.Track{}.Seq)
	trackUnwanted = unsafe.Offsetof(registry.Track{}.Unwanted)

	heldUint  = registry.HoldsUint
	heldFloat = registry.HoldsFloat
)
