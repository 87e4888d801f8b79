// Package timeline draws the work of streams over time: as a Perfetto trace (the Chrome JSON format, for
// ui.perfetto.dev) and as a picture in SVG. The spans may come from a real run or from a prediction.
package timeline
