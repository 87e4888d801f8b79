// Package dump writes the parts and the calls of each plan that is bound, where group.Config.Dump or OVGEN_DUMP asks
// for it. It serves programs that import it: no run needs it.
package dump
