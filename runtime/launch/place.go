package launch

import "ovgen/runtime/launcher"

// IsRank reports whether a launcher has started this process as a rank (see launcher.IsRank).
func IsRank() bool { return launcher.IsRank() }

// FindPlace finds the place of this rank in the variables of its launcher (see launcher.FindPlace).
func FindPlace() (launcher.Place, error) { return launcher.FindPlace() }
