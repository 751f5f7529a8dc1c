package gecko

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf8"
)

// compact appends a value without spaces between its parts, as valid UTF-8.
func compact(dst, raw []byte) []byte {
	if !utf8.Valid(raw) {
		raw = bytes.ToValidUTF8(raw, []byte("\ufffd"))
	}
	out := bytes.NewBuffer(dst)
	if json.Compact(out, raw) != nil {
		return append(dst, "null"...)
	}
	return out.Bytes()
}

// appendTimings appends the details of a collection as newer processed profiles
// have them. In a Gecko profile, and in old processed ones, times of phases are
// in ms and called otherwise, and shares are in percent. Until Gecko 8 they did
// not say whether the collection was completed; that of an old one was.
func appendTimings(dst, raw []byte, major bool) []byte {
	o := parse(raw)
	status := o.raw("status")
	if major && status == nil && o.has("slices") {
		status = []byte(`"completed"`)
		dst = appendStatus(dst, status)
	} else {
		dst = append(dst, '{')
	}
	return appendMembers(dst, raw, func(dst, key, value []byte) []byte {
		switch string(key) {
		case "times", "totals":
			return appendPhases(appendKey(dst, "phase_times"), value)
		case "mmu_20ms", "mmu_50ms":
			if o.has("totals") {
				return appendShifted(appendKey(dst, string(key)), value, -2)
			}
		case "allocated":
			if mebibytes, err := strconv.ParseFloat(string(value), 64); err == nil && major && !o.has("allocated_bytes") {
				dst = strconv.AppendFloat(appendKey(dst, "allocated_bytes"), mebibytes*(1<<20), 'f', -1, 64)
				dst = append(dst, ',')
			}
		}
		return compact(appendKey(dst, string(key)), value)
	})
}

// oldNursery is what the details of a small collection were called until Gecko 8.
var oldNursery = map[string]string{"nursery_bytes": "bytes_used", "new_nursery_bytes": "new_capacity", "timings": "phase_times"}

// appendNursery appends the details of a small collection, likewise.
func appendNursery(dst, raw []byte) []byte {
	old := !parse(raw).has("status")
	if old {
		dst = appendStatus(dst, []byte(`"complete"`))
	} else {
		dst = append(dst, '{')
	}
	return appendMembers(dst, raw, func(dst, key, value []byte) []byte {
		name := string(key)
		if now := oldNursery[name]; old && now != "" {
			name = now
		}
		if name == "status" && string(value) == `"no collection"` {
			value = []byte(`"nursery empty"`)
		}
		return compact(appendKey(dst, name), value)
	})
}

// appendStatus begins an object with that member.
func appendStatus(dst, status []byte) []byte {
	return append(append(appendKey(append(dst, '{'), "status"), status...), ',')
}

// appendPhases appends an object of numbers of ms as one of µs.
func appendPhases(dst, raw []byte) []byte {
	if !bytes.HasPrefix(raw, []byte("{")) {
		return compact(dst, raw)
	}
	return appendMembers(append(dst, '{'), raw, func(dst, key, value []byte) []byte {
		return appendShifted(appendKey(dst, string(key)), value, 3)
	})
}

// appendMembers appends what each makes of the members of an object, and the
// bracket that ends it.
func appendMembers(dst, object []byte, each func(dst, key, value []byte) []byte) []byte {
	members(object, func(key, value []byte) { dst = append(each(dst, key, value), ',') })
	return append(bytes.TrimSuffix(dst, []byte{','}), '}')
}

func appendKey(dst []byte, key string) []byte {
	text, _ := json.Marshal(key)
	return append(append(dst, text...), ':')
}

// appendShifted appends a number times a power of ten. The text is read so, for a
// product would be rounded twice.
func appendShifted(dst, raw []byte, digits int) []byte {
	mantissa, exponent, _ := strings.Cut(strings.ToLower(string(raw)), "e")
	n, _ := strconv.Atoi(exponent)
	f, err := strconv.ParseFloat(mantissa+"e"+strconv.Itoa(n+digits), 64)
	if err != nil {
		return compact(dst, raw)
	}
	return strconv.AppendFloat(dst, f, 'f', -1, 64)
}
