package logs

import "log/slog"

// Kind is what an attribute may reveal.
type Kind uint8

// The kinds of attributes. Each has a field of the marker.
const (
	Unsaid Kind = iota // its author did not say: it is redacted as secrets are
	Plain              // nothing
	User               // a person or an account
	Path               // a path in the file system
	URL                // an address, perhaps with a query
	Secret             // must not leave the machine
	numKinds
)

// Attr is an attribute of that kind, for a call of package slog. Other handlers see the value.
func (k Kind) Attr(key string, value any) slog.Attr {
	return slog.Any(key, kept{k, slog.AnyValue(value)})
}

// kept is a value whose kind is known.
type kept struct {
	kind  Kind
	value slog.Value
}

// LogValue is the value as other handlers see it.
func (k kept) LogValue() slog.Value { return k.value }

// kindOf is the kind of an attribute: as it says itself, else by its key.
func kindOf(a slog.Attr, kinds map[string]Kind) Kind {
	if a.Value.Kind() == slog.KindLogValuer {
		if k, ok := a.Value.LogValuer().(kept); ok && k.kind < numKinds {
			return k.kind
		}
	}
	if k := kinds[a.Key]; k < numKinds {
		return k
	}
	return Unsaid
}
