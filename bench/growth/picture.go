//go:build linux

package main

import (
	"bytes"
	"fmt"
	"os"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/plotutil"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// curve is what recordings of growing size took.
type curve struct {
	name   string
	points []point
}

// check compares the last two sizes.
func (c curve) check() error {
	n := len(c.points)
	if n < 2 {
		return nil
	}
	if before, last := c.points[n-2].ownPerByte(), c.points[n-1].ownPerByte(); last > tolerated*before {
		return fmt.Errorf("%s: without moving a byte takes %.1f ns, %.2f times as much as in a smaller recording", c.name, last, last/before)
	}
	return nil
}

// picture draws the CPU time of a byte and the most memory, side by side, as SVG.
func picture(curves []curve, path string) error {
	cpu, memory := axes("CPU ns a byte"), axes("peak MB")
	for i, c := range curves {
		of := func(y func(point) float64) plotter.XYs {
			var xys plotter.XYs
			for _, p := range c.points {
				xys = append(xys, plotter.XY{X: float64(p.bytes) / 1e6, Y: y(p)})
			}
			return xys
		}
		for _, part := range []struct {
			plot *plot.Plot
			xys  plotter.XYs
		}{
			{cpu, of(point.perByte)},
			{memory, of(func(p point) float64 { return float64(p.Peak) / 1e6 })},
		} {
			line, points, err := plotter.NewLinePoints(part.xys)
			if err != nil {
				return err
			}
			line.Color, points.Color, points.Shape = plotutil.Color(i), plotutil.Color(i), plotutil.Shape(i)
			part.plot.Add(line, points)
			if part.plot == memory { // which leaves more room
				memory.Legend.Add(c.name, line, points)
			}
		}
	}
	canvas := vgsvg.New(24*vg.Centimeter, 10*vg.Centimeter)
	tiles := draw.Tiles{Rows: 1, Cols: 2, PadX: vg.Centimeter}
	plots := [][]*plot.Plot{{cpu, memory}}
	for i, c := range plot.Align(plots, tiles, draw.New(canvas))[0] {
		plots[0][i].Draw(c)
	}
	var b bytes.Buffer
	if _, err := canvas.WriteTo(&b); err != nil {
		return err
	}
	return os.WriteFile(path, b.Bytes(), 0o666)
}

// axes is an empty plot over the size of recordings.
func axes(title string) *plot.Plot {
	p := plot.New()
	p.Title.Text, p.X.Label.Text = title, "MB"
	p.X.Scale, p.X.Tick.Marker = plot.LogScale{}, plot.LogTicks{Prec: -1}
	p.Y.Min = 0
	p.Add(plotter.NewGrid())
	p.Legend.Top, p.Legend.Left, p.Legend.XOffs, p.Legend.Padding = true, true, vg.Millimeter, vg.Millimeter
	return p
}
