package otlpproto

import "gprof/rawformat/protobuf"

// Kind is how the value of a field is written in JSON.
type Kind uint8

// The kinds of fields. Numbers of 64 bits are texts in JSON.
const (
	Int     Kind = iota // of 32 bits
	Long                // of 64 bits
	Ulong               // of 64 bits, without a sign
	Fixed               // likewise, in 8 bytes
	Bool                //
	Double              //
	String              //
	ID                  // bytes, in hexadecimal
	Base64              // other bytes
	Message             // of Field.Of
)

// Field is a field of a message.
type Field struct {
	Number   int
	Name     string // in JSON
	Kind     Kind
	Repeated bool
	Of       Type // of a Message
}

// Has reports whether the field may have a wire type. Repeated numbers may be packed.
func (f *Field) Has(wire int) bool {
	is := protobuf.Varint
	switch f.Kind {
	case Fixed, Double:
		is = protobuf.Fixed64
	case String, ID, Base64, Message:
		is = protobuf.Bytes
	}
	return wire == is || f.Repeated && wire == protobuf.Bytes
}

// Type is a type of messages.
type Type uint8

// The types of messages.
const (
	Data Type = iota
	Dictionary
	ResourceProfiles
	ScopeProfiles
	Profile
	Sample
	ValueType
	Mapping
	Stack
	Location
	Line
	Function
	Link
	Attribute
	Resource
	Scope
	KeyAndValue
	entity
	AnyValue
	array
	list
)

// ByNumber returns the field of that number, nil if it is of a later version.
func (t Type) ByNumber(number int) *Field {
	for i := range types[t] {
		if types[t][i].Number == number {
			return &types[t][i]
		}
	}
	return nil
}

// ByName returns the field of a name in JSON, nil if it is of a later version.
func (t Type) ByName(name string) *Field {
	for i := range types[t] {
		if types[t][i].Name == name {
			return &types[t][i]
		}
	}
	return nil
}

// byName returns the field of a name in quotes, as it stands in JSON; nil if it is of a later version.
func (t Type) byName(quoted []byte) *Field {
	if len(quoted) < 2 {
		return nil
	}
	return t.ByName(string(quoted[1 : len(quoted)-1]))
}

// types are the fields of messages, in the order of their numbers.
var types = [...][]Field{
	Data: {
		{DataResource, "resourceProfiles", Message, true, ResourceProfiles},
		{DataDictionary, "dictionary", Message, false, Dictionary},
	},
	Dictionary: {
		{DictionaryMapping, "mappingTable", Message, true, Mapping},
		{DictionaryLocation, "locationTable", Message, true, Location},
		{DictionaryFunction, "functionTable", Message, true, Function},
		{DictionaryLink, "linkTable", Message, true, Link},
		{DictionaryString, "stringTable", String, true, 0},
		{DictionaryAttribute, "attributeTable", Message, true, Attribute},
		{DictionaryStack, "stackTable", Message, true, Stack},
	},
	ResourceProfiles: {
		{ResourceProfilesResource, "resource", Message, false, Resource},
		{ResourceProfilesScope, "scopeProfiles", Message, true, ScopeProfiles},
		{ResourceProfilesSchema, "schemaUrl", String, false, 0},
	},
	ScopeProfiles: {
		{ScopeProfilesScope, "scope", Message, false, Scope},
		{ScopeProfilesProfile, "profiles", Message, true, Profile},
		{ScopeProfilesSchema, "schemaUrl", String, false, 0},
	},
	Profile: {
		{ProfileType, "sampleType", Message, false, ValueType},
		{ProfileSample, "samples", Message, true, Sample},
		{ProfileTime, "timeUnixNano", Fixed, false, 0},
		{ProfileDuration, "durationNano", Ulong, false, 0},
		{ProfilePeriodType, "periodType", Message, false, ValueType},
		{ProfilePeriod, "period", Long, false, 0},
		{ProfileID, "profileId", ID, false, 0},
		{ProfileDropped, "droppedAttributesCount", Int, false, 0},
		{ProfileOriginalFormat, "originalPayloadFormat", String, false, 0},
		{ProfileOriginal, "originalPayload", Base64, false, 0},
		{ProfileAttributes, "attributeIndices", Int, true, 0},
	},
	Sample: {
		{SampleStack, "stackIndex", Int, false, 0},
		{SampleAttributes, "attributeIndices", Int, true, 0},
		{SampleLink, "linkIndex", Int, false, 0},
		{SampleValues, "values", Long, true, 0},
		{SampleTimes, "timestampsUnixNano", Fixed, true, 0},
	},
	ValueType: {
		{TypeName, "typeStrindex", Int, false, 0},
		{TypeUnit, "unitStrindex", Int, false, 0},
	},
	Mapping: {
		{MappingStart, "memoryStart", Ulong, false, 0},
		{MappingLimit, "memoryLimit", Ulong, false, 0},
		{MappingOffset, "fileOffset", Ulong, false, 0},
		{MappingFile, "filenameStrindex", Int, false, 0},
		{MappingAttributes, "attributeIndices", Int, true, 0},
	},
	Stack: {{StackLocations, "locationIndices", Int, true, 0}},
	Location: {
		{LocationMapping, "mappingIndex", Int, false, 0},
		{LocationAddress, "address", Ulong, false, 0},
		{LocationLine, "lines", Message, true, Line},
		{LocationAttributes, "attributeIndices", Int, true, 0},
	},
	Line: {
		{LineFunction, "functionIndex", Int, false, 0},
		{LineNumber, "line", Long, false, 0},
		{LineColumn, "column", Long, false, 0},
	},
	Function: {
		{FunctionName, "nameStrindex", Int, false, 0},
		{FunctionSystem, "systemNameStrindex", Int, false, 0},
		{FunctionFile, "filenameStrindex", Int, false, 0},
		{FunctionStart, "startLine", Long, false, 0},
	},
	Link: {
		{LinkTrace, "traceId", ID, false, 0},
		{LinkSpan, "spanId", ID, false, 0},
	},
	Attribute: {
		{AttributeKey, "keyStrindex", Int, false, 0},
		{AttributeValue, "value", Message, false, AnyValue},
		{AttributeUnit, "unitStrindex", Int, false, 0},
	},
	Resource: {
		{ResourceAttribute, "attributes", Message, true, KeyAndValue},
		{2, "droppedAttributesCount", Int, false, 0},
		{3, "entityRefs", Message, true, entity},
	},
	Scope: {
		{ScopeName, "name", String, false, 0},
		{ScopeVersion, "version", String, false, 0},
		{3, "attributes", Message, true, KeyAndValue},
		{4, "droppedAttributesCount", Int, false, 0},
	},
	KeyAndValue: {
		{KeyName, "key", String, false, 0},
		{KeyValue, "value", Message, false, AnyValue},
		{KeyRef, "keyStrindex", Int, false, 0},
	},
	entity: {
		{1, "schemaUrl", String, false, 0},
		{2, "type", String, false, 0},
		{3, "idKeys", String, true, 0},
		{4, "descriptionKeys", String, true, 0},
	},
	AnyValue: {
		{ValueString, "stringValue", String, false, 0},
		{ValueBool, "boolValue", Bool, false, 0},
		{ValueInt, "intValue", Long, false, 0},
		{ValueDouble, "doubleValue", Double, false, 0},
		{ValueArray, "arrayValue", Message, false, array},
		{ValueList, "kvlistValue", Message, false, list},
		{ValueBytes, "bytesValue", Base64, false, 0},
		{ValueStringRef, "stringValueStrindex", Int, false, 0},
	},
	array: {{ListValue, "values", Message, true, AnyValue}},
	list:  {{ListValue, "values", Message, true, KeyAndValue}},
}
