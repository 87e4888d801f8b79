package group

import (
	"errors"

	"ovgen/runtime/group/store"
)

// Reports reports whether this rank reports an error that all ranks of its group get (see launch.Report). The rank that
// aborted reports an abort, the rank that failed reports a failure that the ranks agreed on, the first of the ranks
// that don't fit together reports their mismatch, and the first remaining rank reports a rank that is gone. Under a
// launcher that prints the output of every rank, a job then prints its error once, at its end.
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
