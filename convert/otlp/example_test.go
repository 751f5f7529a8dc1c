package otlp_test

import (
	"log"
	"os"

	"gprof/convert"
	"gprof/stream"
	"gprof/stream/streamtest"
)

// A sample has its time; its stack, and what it is of, are rows of the dictionary.
func Example() {
	b := streamtest.NewBuilder()
	p := b.Process(stream.Process{Instance: 1, Service: "shop", Start: 1000, End: 3000})
	p.Track("worker").Add(streamtest.Row{Series: stream.Series{Kind: stream.Samples}, Time: 2000, Stack: b.Stack("main.work"), Weight: 1, CPU: 7})

	format, options, err := convert.ByName("shop.otlp.json")
	if err != nil {
		log.Fatal(err)
	}
	sink, err := format.New(os.Stdout, options)
	if err != nil {
		log.Fatal(err)
	}
	if err := stream.Copy(sink, b.Source(), stream.CopyOptions{}); err != nil {
		log.Fatal(err)
	}
	// Output:
	// {"resourceProfiles":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"shop"}},{"key":"service.instance.id","value":{"stringValue":"0000000000000001"}}]},"scopeProfiles":[{"scope":{"name":"gprof"},"profiles":[{"sampleType":{"typeStrindex":2,"unitStrindex":3},"timeUnixNano":"1000","durationNano":"2000","profileId":"cec05139ce2bf90a24f142b23fb925ee","samples":[{"stackIndex":1,"attributeIndices":[1],"values":["1"],"timestampsUnixNano":["2000"]}]},{"sampleType":{"typeStrindex":4,"unitStrindex":5},"timeUnixNano":"1000","durationNano":"2000","profileId":"1f13b56ba8877fab55a5d897041bdc03","samples":[{"stackIndex":1,"attributeIndices":[1],"values":["7"],"timestampsUnixNano":["2000"]}]}]}]}],"dictionary":{"mappingTable":[{}],"locationTable":[{},{"lines":[{"functionIndex":1}]}],"functionTable":[{},{"nameStrindex":6,"systemNameStrindex":6}],"linkTable":[{}],"stringTable":["","thread.name","samples","count","cpu","nanoseconds","main.work"],"attributeTable":[{},{"keyStrindex":1,"value":{"stringValue":"worker"}}],"stackTable":[{},{"locationIndices":[1]}]}}
}
