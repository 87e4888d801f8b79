package group

import (
	"errors"

	"ovgen/runtime/group/store"
)

// Reports reports whether this rank reports an error that all ranks of its group get
// (see launch.Report): an abort is reported by the rank that aborted, a failure that
// the ranks agreed on by the one that failed, ranks that don't fit together
// by the first of them, a rank that is gone by the first that is left. Under a
// launcher that passes on what every rank prints, a job then ends with its error
// printed once.
func Reports(err error, rank int) bool {
	var abort *AbortError
	var peer *PeerError
	var check *CheckError
	var gone *store.GoneError
	switch {
	case errors.As(err, &abort):
		return abort.By == rank
	case errors.As(err, &peer):
		return peer.Rank == rank
	case errors.As(err, &check) && len(check.Ranks) > 0:
		return check.Ranks[0] == rank
	case errors.As(err, &gone):
		first := 0
		if gone.Rank == 0 {
			first = 1
		}
		return rank == first
	}
	return err != nil
}
