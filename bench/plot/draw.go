package main

import (
	"bytes"
	"fmt"
	"image/color"
	"math"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// line of a picture.
type line struct {
	name   string
	color  color.Color
	dashes []vg.Length
	of     func(*point) (figure, bool)
}

var lines = []line{
	{"ovgen, fastest schedule", color.RGBA{R: 0x1f, G: 0x5f, B: 0xbf, A: 0xff}, nil, func(p *point) (figure, bool) {
		_, f, ok := p.ours()
		return f, ok
	}},
	{"PyTorch symmetric memory", color.RGBA{R: 0xc2, G: 0x4d, B: 0x1c, A: 0xff},
		[]vg.Length{vg.Points(5), vg.Points(3)}, program(symmMem)},
	{"NCCL and GEMM in turn", color.RGBA{R: 0x60, G: 0x60, B: 0x60, A: 0xff},
		[]vg.Length{vg.Points(1.5), vg.Points(2.5)}, program(nccl)},
}

func program(name string) func(*point) (figure, bool) {
	return func(p *point) (figure, bool) {
		f, ok := p.best[name]
		return f, ok
	}
}

var layers = []struct{ name, does string }{{"fc1", "all-gather + matmul"}, {"fc2", "matmul + reduce-scatter"}}

// picture draws a model, nil where nothing was measured.
func picture(model string, points []*point) ([]byte, error) {
	var panels []*plot.Plot
	for _, l := range layers {
		var some []*point
		for _, p := range points {
			if p.model == model && p.layer == l.name {
				some = append(some, p)
			}
		}
		p, err := panel(fmt.Sprintf("%s %s: %s", model, l.name, l.does), some)
		if err != nil {
			return nil, err
		}
		if p != nil {
			panels = append(panels, p)
		}
	}
	if len(panels) == 0 {
		return nil, nil
	}
	canvas := vgsvg.New(vg.Length(len(panels))*4.2*vg.Inch, 3.2*vg.Inch)
	tiles := draw.Tiles{Rows: 1, Cols: len(panels), PadX: vg.Points(12), PadTop: vg.Points(4), PadBottom: vg.Points(4),
		PadLeft: vg.Points(4), PadRight: vg.Points(4)}
	for i, c := range plot.Align([][]*plot.Plot{panels}, tiles, draw.New(canvas))[0] {
		panels[i].Draw(c)
	}
	var b bytes.Buffer
	if _, err := canvas.WriteTo(&b); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// panel is efficiency over M for one layer.
func panel(title string, points []*point) (*plot.Plot, error) {
	if len(points) == 0 {
		return nil, nil
	}
	p := plot.New()
	p.Title.Text = title
	p.X.Label.Text = "M"
	p.Y.Label.Text = "efficiency"
	p.Y.Min, p.Y.Max = 0, 1.1
	p.Y.Tick.Marker = steps(0, 1, 0.2)
	var ticks plot.ConstantTicks
	for _, x := range points {
		ticks = append(ticks, plot.Tick{Value: math.Log2(float64(x.m)), Label: fmt.Sprint(x.m)})
	}
	p.X.Tick.Marker = ticks
	p.X.Min, p.X.Max = ticks[0].Value-0.2, ticks[len(ticks)-1].Value+0.2
	for _, style := range []*text.Style{&p.Title.TextStyle, &p.X.Label.TextStyle, &p.Y.Label.TextStyle,
		&p.X.Tick.Label, &p.Y.Tick.Label, &p.Legend.TextStyle} {
		style.Font.Variant = "Sans"
		style.Font.Size = vg.Points(9)
	}
	p.Title.TextStyle.Font.Size, p.Title.Padding = vg.Points(11), vg.Points(4)
	// On the right, where M is large, no line is low.
	p.Legend.Padding, p.Legend.XOffs, p.Legend.YOffs = vg.Points(3), vg.Points(-4), vg.Points(4)
	grid := plotter.NewGrid()
	grid.Vertical.Color = nil
	grid.Horizontal.Color = color.Gray{Y: 0xdd}
	p.Add(grid)
	for _, l := range lines {
		if err := l.add(p, points); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// steps are ticks with labels from first to last.
func steps(first, last, by float64) plot.ConstantTicks {
	var ticks plot.ConstantTicks
	for i := 0; ; i++ {
		v := first + float64(i)*by
		if v > last+by/2 {
			return ticks
		}
		ticks = append(ticks, plot.Tick{Value: v, Label: fmt.Sprintf("%.1f", v)})
	}
}

// add draws the line through the points that have it.
func (l line) add(p *plot.Plot, points []*point) error {
	var xy plotter.XYs
	for _, x := range points {
		if f, ok := l.of(x); ok {
			xy = append(xy, plotter.XY{X: math.Log2(float64(x.m)), Y: x.pure / f.ms})
		}
	}
	if len(xy) == 0 {
		return nil
	}
	path, dots, err := plotter.NewLinePoints(xy)
	if err != nil {
		return fmt.Errorf("line of %s: %w", l.name, err)
	}
	path.Color, path.Width, path.Dashes = l.color, vg.Points(1.6), l.dashes
	dots.Color, dots.Shape, dots.Radius = l.color, draw.CircleGlyph{}, vg.Points(2.2)
	p.Add(path, dots)
	p.Legend.Add(l.name, path, dots)
	return nil
}

// fileName is a model's name in a file's.
func fileName(model string) string { return strings.ToLower(model) }
