package timeline

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"math"
)

// Panel is a set of spans under a title; panels of one picture share their time axis.
type Panel struct {
	Title string
	Spans []Span
}

// Sizes of a picture, in pixels.
const (
	width    = 1000
	margin   = 110 // for the names of streams
	row      = 16  // of a track
	gap      = 8   // between ranks
	head     = 26  // of a panel's title
	foot     = 48  // of the axis and the legend
	ticks    = 8
	least    = 0.4 // width of a span that takes no time
	perGlyph = 6.2
)

// fills are the colours of the kinds: dark for work, light for waiting.
var fills = map[Kind]string{Product: "#3b6ea5", Copy: "#d9822b", Sum: "#5b8c5a", Wait: "#dddddd", Post: "#b04a5a",
	Other: "#999999"}

// SVG draws the panels one below the other: a row for each stream, time to the right.
func SVG(w io.Writer, panels ...Panel) error {
	var end float64
	height := foot
	for _, p := range panels {
		height += head + panelHeight(p)
		for _, s := range p.Spans {
			end = max(end, s.End)
		}
	}
	end = max(end, 1)
	d := &drawing{scale: (width - margin - 10) / end}
	fmt.Fprintf(&d.out, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" `+
		`font-family="sans-serif" font-size="10">`+"\n",
		width, height)
	fmt.Fprintf(&d.out, `<rect width="%d" height="%d" fill="white"/>`+"\n", width, height)
	for _, p := range panels {
		d.panel(p)
	}
	d.axis(end)
	d.legend()
	d.out.WriteString("</svg>\n")
	if _, err := w.Write(d.out.Bytes()); err != nil {
		return fmt.Errorf("write a picture: %w", err)
	}
	return nil
}

func panelHeight(p Panel) int {
	list := tracks(p.Spans)
	height := len(list) * row
	for i, t := range list {
		if i > 0 && t.rank != list[i-1].rank {
			height += gap
		}
	}
	return height
}

// drawing is a picture under way.
type drawing struct {
	out   bytes.Buffer
	y     int
	scale float64 // pixels a microsecond
}

func (d *drawing) x(us float64) float64 { return margin + us*d.scale }

func (d *drawing) text(x float64, y int, anchor, what string) {
	fmt.Fprintf(&d.out, `<text x="%.1f" y="%d" text-anchor="%s">`, x, y, anchor)
	_ = xml.EscapeText(&d.out, []byte(what)) // a buffer takes everything
	d.out.WriteString("</text>\n")
}

func (d *drawing) panel(p Panel) {
	d.text(8, d.y+17, "start", p.Title)
	d.y += head
	list := tracks(p.Spans)
	for i, t := range list {
		if i > 0 && t.rank != list[i-1].rank {
			d.y += gap
		}
		d.text(margin-6, d.y+12, "end", fmt.Sprintf("rank %d %s", t.rank, t.stream))
		for _, s := range p.Spans {
			if s.Rank == t.rank && s.Stream == t.stream {
				d.span(s)
			}
		}
		d.y += row
	}
}

func (d *drawing) span(s Span) {
	wide := max((s.End-s.Start)*d.scale, least)
	fill := fills[s.Kind]
	if fill == "" {
		fill = fills[Other]
	}
	fmt.Fprintf(&d.out, `<rect x="%.1f" y="%d" width="%.1f" height="%d" fill="%s"><title>`, d.x(s.Start), d.y+1,
		wide, row-2, fill)
	_ = xml.EscapeText(&d.out, fmt.Appendf(nil, "%s: %.1f to %.1f us", s.Name, s.Start, s.End))
	d.out.WriteString("</title></rect>\n")
	if s.Kind != Wait && float64(len(s.Name))*perGlyph < wide {
		fmt.Fprintf(&d.out, `<g fill="white">`)
		d.text(d.x(s.Start)+3, d.y+12, "start", s.Name)
		d.out.WriteString("</g>\n")
	}
}

// axis is the time in microseconds, in round steps.
func (d *drawing) axis(end float64) {
	step := math.Pow(10, math.Floor(math.Log10(end/ticks)))
	for _, by := range []float64{5, 2, 2.5} {
		if end/step > ticks*1.5 {
			step *= by
		}
	}
	for i := 0; float64(i)*step <= end; i++ {
		at := float64(i) * step
		fmt.Fprintf(&d.out, `<line x1="%.1f" y1="0" x2="%.1f" y2="%d" stroke="#000000" stroke-opacity="0.12"/>`+"\n",
			d.x(at), d.x(at), d.y+6)
		d.text(d.x(at), d.y+18, "middle", fmt.Sprintf("%g us", at))
	}
}

// legend names the colours.
func (d *drawing) legend() {
	x := margin
	for _, k := range []Kind{Product, Copy, Sum, Wait, Post, Other} {
		fmt.Fprintf(&d.out, `<rect x="%d" y="%d" width="12" height="10" fill="%s"/>`+"\n", x, d.y+28, fills[k])
		d.text(float64(x+16), d.y+37, "start", string(k))
		x += 80
	}
}
