// Package run is the command line of generated/run: it lists the generated packages,
// verifies with package harness that they compute the right bits, measures, tunes and
// traces them. One binary holds every program and starts its own ranks.
package run
