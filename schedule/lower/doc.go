// Package lower turns a schedule into its host program by a short list of passes,
// one file each, listed in Lower. The first two say what has to be communicated and
// write it down as one plain loop; each later pass takes one choice of the schedule
// and rewrites the program for it, so that without them the program is the one that
// nvFuser runs and with them the one that ovgen runs by default.
package lower
