// Package timeline draws the work of streams over time: as a Perfetto trace (the Chrome
// JSON format, for ui.perfetto.dev) and as a picture in SVG. Where the spans come from, a
// real run or a prediction, is not its concern.
package timeline
