package pprof

import (
	"errors"

	"gprof/rawformat/profileproto"
	"gprof/rawformat/protobuf"
)

// ErrProfile says that a file is no profile, or an unreadable one. Other errors are those of
// package damage.
var ErrProfile = errors.New("not a pprof profile")

// fieldWires are the wire types that a field of a profile may have, as bits.
var fieldWires = [...]uint8{
	profileproto.ProfileSampleType: 1 << protobuf.Bytes, profileproto.ProfileSample: 1 << protobuf.Bytes, profileproto.ProfileMapping: 1 << protobuf.Bytes, profileproto.ProfileLocation: 1 << protobuf.Bytes,
	profileproto.ProfileFunction: 1 << protobuf.Bytes, profileproto.ProfileString: 1 << protobuf.Bytes, profileproto.ProfileDrop: 1 << protobuf.Varint, profileproto.ProfileKeep: 1 << protobuf.Varint,
	profileproto.ProfileTime: 1 << protobuf.Varint, profileproto.ProfileDuration: 1 << protobuf.Varint, profileproto.ProfilePeriodType: 1 << protobuf.Bytes, profileproto.ProfilePeriod: 1 << protobuf.Varint,
	profileproto.ProfileComment: 1<<protobuf.Varint | 1<<protobuf.Bytes, profileproto.ProfileDefaultType: 1 << protobuf.Varint, profileproto.ProfileDoc: 1 << protobuf.Varint,
}

// known reports whether this is a field of a profile, with a valid wire type.
func known(v *protobuf.Field) bool {
	return v.Number < len(fieldWires) && fieldWires[v.Number]>>v.Wire&1 != 0
}
