package tables

// Kind is what the values of a column are.
type Kind uint8

const (
	Long   Kind = iota // integer of 64 bits
	Short              // integer of 32 bits
	Double             // floating point number of 64 bits
	Flag               // true or false
	Word               // text that repeats often
	Text               // text, in UTF-8
	Hash               // KeySize bytes
	IDs                // list of Shorts
	Texts              // list of Texts
)

// KeySize is the length of a Hash.
const KeySize = 16

// Column is one column of a table.
type Column struct {
	Name string
	Kind Kind
	Null bool // a value may be unknown
	Near bool // a value is mostly near the one before it
	// Texts are all that a Word may be, where that is known before the first row.
	Texts []string
}

// Definition is what a table is: its columns, and those its rows are sorted by.
type Definition struct {
	Name    string
	Columns []Column
	Sorted  []string
}
