package shard

import "gprof/recorder/internal/registry"

// Handle is what every event is: its definition, and the track that it is
// aimed at. The zero Handle records nothing.
type Handle struct {
	Event *registry.Definition
	Track *registry.Track
}
