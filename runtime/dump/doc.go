// Package dump writes what each plan of a group was bound to, where group.Config.Dump or OVGEN_DUMP asks for it. It
// serves programs that import it: no run needs it.
package dump
