package inflate

// The meaning of symbols, by their numbers.
var (
	literalMeaning  = literalMeanings()
	distanceMeaning = distanceMeanings()
	lengthMeaning   = lengthMeanings()
)

func literalMeanings() (all [maxLiterals]entry) {
	for i := range 256 {
		all[i] = newEntry(literal, 0, i)
	}
	all[256] = newEntry(end, 0, 0)
	for i, length := 257, 3; i < 285; i++ {
		extra := max(0, (i-261)/4)
		all[i] = newEntry(base, extra, length)
		length += 1 << extra
	}
	all[285] = newEntry(base, 0, 258)
	return all // the last two mean nothing
}

func distanceMeanings() (all [maxDistances]entry) {
	for i, distance := 0, 1; i < 30; i++ {
		extra := max(0, i/2-1)
		all[i] = newEntry(base, extra, distance)
		distance += 1 << extra
	}
	return all // the last two mean nothing
}

// lengthMeanings are of the code in which the lengths of codes are written.
func lengthMeanings() (all [19]entry) {
	for i := range all {
		all[i] = newEntry(literal, 0, i)
	}
	return all
}

// lengthOrder is the order in which the lengths of that code come.
var lengthOrder = [19]int{16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15}

// fixed makes the tables of a block that has none of its own.
func (d *decoder) fixed() (ok bool) {
	for i := range d.lengths {
		switch {
		case i >= maxLiterals:
			d.lengths[i] = 5
		case i < 144, i >= 280:
			d.lengths[i] = 8
		case i < 256:
			d.lengths[i] = 9
		default:
			d.lengths[i] = 7
		}
	}
	return d.build(maxLiterals, maxLiterals+maxDistances)
}

// build makes the tables of lengths: those of literals come first.
func (d *decoder) build(literals, all int) (ok bool) {
	return d.literals.build(d.lengths[:literals], literalMeaning[:]) && d.distances.build(d.lengths[literals:all], distanceMeaning[:])
}

// dynamic reads the tables of a block. It uses the one of distances for the code of
// lengths.
func (d *decoder) dynamic() (ok bool) {
	literals, distances, n := 257+int(d.take(5)), 1+int(d.take(5)), 4+int(d.take(4))
	if literals > maxLiterals || !d.fill() {
		return false
	}
	var lengths [19]uint8
	for i, symbol := range lengthOrder[:n] {
		if i == len(lengthOrder)/2 && !d.fill() { // for all there are not bits enough at once
			return false
		}
		lengths[symbol] = uint8(d.take(3))
	}
	if !d.distances.build(lengths[:], lengthMeaning[:]) {
		return false
	}
	return d.readLengths(literals+distances) && d.build(literals, literals+distances)
}

// readLengths reads n lengths of codes.
func (d *decoder) readLengths(n int) (ok bool) {
	for i := 0; i < n; {
		if !d.fill() {
			return false
		}
		e := d.distances.entries[d.bits&(1<<tableBits-1)]
		if e.kind() != literal {
			return false
		}
		d.take(e.size())
		length, times := uint8(e.value()), 1
		switch length {
		case 16:
			if i == 0 {
				return false
			}
			length, times = d.lengths[i-1], 3+int(d.take(2))
		case 17:
			length, times = 0, 3+int(d.take(3))
		case 18:
			length, times = 0, 11+int(d.take(7))
		}
		if times > n-i {
			return false
		}
		for range times {
			d.lengths[i] = length
			i++
		}
	}
	return true
}
