package main

import (
	"io"
	"strconv"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pprofile"

	"gprof/stream"
)

// collected is a Sink that builds OpenTelemetry's profiles of the samples by its collector's library: for
// each track, goroutine and stack the times of its samples, with their CPU time, as our output has them.
type collected struct {
	out        io.Writer
	tables     *stream.Tables
	profiles   pprofile.Profiles
	attributes map[string]int32
	of         map[stream.ProcessID]sampleTypes
	samples    map[sumKey][2]pprofile.Sample
}

// sampleTypes are the samples of a process: how many, and of how much CPU time.
type sampleTypes [2]pprofile.SampleSlice

func (c *collected) Begin(t *stream.Tables) error {
	c.tables, c.profiles = t, pprofile.NewProfiles()
	c.attributes, c.of, c.samples = map[string]int32{}, map[stream.ProcessID]sampleTypes{}, map[sumKey][2]pprofile.Sample{}
	d := c.profiles.Dictionary()
	d.LinkTable().AppendEmpty()
	d.AttributeTable().AppendEmpty()
	d.MappingTable().AppendEmpty()
	d.FunctionTable().AppendEmpty()
	d.LocationTable().AppendEmpty()
	d.StackTable().AppendEmpty()
	for id := range t.Strings.Len() + 1 {
		d.StringTable().Append(t.Strings.At(stream.StringID(id)))
	}
	for id := 1; id <= t.Modules.Len(); id++ {
		d.MappingTable().AppendEmpty().SetFilenameStrindex(c.text(t.Modules.At(stream.ModuleID(id)).Name))
	}
	functions := map[stream.StringID]int32{}
	for id := 1; id <= t.Frames.Len(); id++ {
		f := t.Frames.At(stream.FrameID(id))
		if functions[f.Function] == 0 {
			functions[f.Function] = int32(d.FunctionTable().Len())
			fn := d.FunctionTable().AppendEmpty()
			fn.SetNameStrindex(int32(f.Function))
			fn.SetFilenameStrindex(int32(f.File))
		}
		at := d.LocationTable().AppendEmpty()
		at.SetMappingIndex(int32(f.Module))
		at.SetAddress(f.Offset)
		line := at.Lines().AppendEmpty()
		line.SetFunctionIndex(functions[f.Function])
		line.SetLine(int64(f.Line))
	}
	for id := 1; id <= t.Stacks.Len(); id++ {
		frames := d.StackTable().AppendEmpty().LocationIndices()
		for stack := stream.StackID(id); stack != 0; {
			caller, frame := t.Stacks.At(stack)
			frames.Append(int32(frame))
			stack = caller
		}
	}
	return nil
}

// text adds a text that may be there already.
func (c *collected) text(s string) int32 {
	all := c.profiles.Dictionary().StringTable()
	all.Append(s)
	return int32(all.Len() - 1)
}

// attribute is the number of a value of a key.
func (c *collected) attribute(key, value string, set func(pcommon.Value)) int32 {
	n, ok := c.attributes[key+"="+value]
	if !ok {
		all := c.profiles.Dictionary().AttributeTable()
		n = int32(all.Len())
		c.attributes[key+"="+value] = n
		a := all.AppendEmpty()
		a.SetKeyStrindex(c.text(key))
		set(a.Value())
	}
	return n
}

func (c *collected) Segment(batch *stream.Batch) error {
	if batch.Series.Kind != stream.Samples {
		return nil
	}
	for i, stack := range batch.Stack {
		key := sumKey{batch.Series.Track, stack, batch.Owner(i).Goroutine}
		s, ok := c.samples[key]
		if !ok {
			s = c.sample(batch.Series, key)
			c.samples[key] = s
		}
		for k, value := range [...]int64{batch.Weight[i], batch.CPU[i]} {
			s[k].Values().Append(value)
			s[k].TimestampsUnixNano().Append(uint64(batch.Time[i]))
		}
	}
	return nil
}

func (c *collected) sample(of stream.Series, key sumKey) (both [2]pprofile.Sample) {
	all, ok := c.of[of.Process]
	if !ok {
		r := c.profiles.ResourceProfiles().AppendEmpty()
		r.Resource().Attributes().PutStr("service.name", c.tables.Process(of.Process).Title())
		scope := r.ScopeProfiles().AppendEmpty().Profiles()
		for k, typ := range [...][2]string{{"samples", "count"}, {"cpu", "nanoseconds"}} {
			p := scope.AppendEmpty()
			p.SampleType().SetTypeStrindex(c.text(typ[0]))
			p.SampleType().SetUnitStrindex(c.text(typ[1]))
			all[k] = p.Samples()
		}
		c.of[of.Process] = all
	}
	track := c.tables.Tracks.At(key.track).Name
	for k := range both {
		both[k] = all[k].AppendEmpty()
		both[k].SetStackIndex(int32(key.stack))
		both[k].AttributeIndices().Append(c.attribute("thread.name", track, func(v pcommon.Value) { v.SetStr(track) }))
		if key.goroutine != 0 {
			both[k].AttributeIndices().Append(c.attribute("goroutine", strconv.FormatInt(key.goroutine, 10), func(v pcommon.Value) { v.SetInt(key.goroutine) }))
		}
	}
	return both
}

func (c *collected) Close() error {
	b, err := new(pprofile.ProtoMarshaler).MarshalProfiles(c.profiles)
	if err == nil {
		_, err = c.out.Write(b)
	}
	return err
}

// collect writes a session's samples by the collector's library.
func collect(session string) (said, error) {
	var c counter
	err := copyTo(&collected{out: &c}, session)
	return said{Bytes: c.bytes}, err
}
