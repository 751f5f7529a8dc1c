package pprof

import "gprof/rawformat/profileproto"

// fieldWires says which wire types a field of a profile may have, as bits.
var fieldWires = [...]uint8{
	profileproto.ProfileSampleType: 1 << profileproto.WireBytes, profileproto.ProfileSample: 1 << profileproto.WireBytes, profileproto.ProfileMapping: 1 << profileproto.WireBytes, profileproto.ProfileLocation: 1 << profileproto.WireBytes,
	profileproto.ProfileFunction: 1 << profileproto.WireBytes, profileproto.ProfileString: 1 << profileproto.WireBytes, profileproto.ProfileDrop: 1 << profileproto.WireVarint, profileproto.ProfileKeep: 1 << profileproto.WireVarint,
	profileproto.ProfileTime: 1 << profileproto.WireVarint, profileproto.ProfileDuration: 1 << profileproto.WireVarint, profileproto.ProfilePeriodType: 1 << profileproto.WireBytes, profileproto.ProfilePeriod: 1 << profileproto.WireVarint,
	profileproto.ProfileComment: 1<<profileproto.WireVarint | 1<<profileproto.WireBytes, profileproto.ProfileDefaultType: 1 << profileproto.WireVarint, profileproto.ProfileDoc: 1 << profileproto.WireVarint,
}

// known says whether a field is one of a profile, laid out as such.
func (v *field) known() bool {
	return v.number < len(fieldWires) && fieldWires[v.number]>>v.wire&1 != 0
}
