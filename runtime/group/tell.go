package group

import (
	"errors"
	"fmt"
	"io"
	"time"

	"ovgen/runtime/group/store"
)

// tellTime is what the others leave the rank that tells of an error.
const tellTime = time.Second

// Tell prints an error with which all ranks of a group end, on the rank that Tells.
func Tell(w io.Writer, err error, rank int) { TellIf(w, err, Tells(err, rank)) }

// TellIf prints an error with which all ranks end where it is theirs to tell. The others
// wait a second instead: a launcher ends the job when the first of its processes fails,
// and could cut the words off.
func TellIf(w io.Writer, err error, theirs bool) {
	if theirs {
		fmt.Fprintln(w, err)
		return
	}
	time.Sleep(tellTime)
}

// Tells says whether this rank is the one to tell of an error that all ranks of its
// group get: of an abort the rank that aborted, of a failure that ranks agreed on the
// one that failed, of a rank that is gone the first that is left. Under a launcher
// that passes on what every rank prints, a job then ends with its error said once.
func Tells(err error, rank int) bool {
	var abort *AbortError
	var peer *PeerError
	var gone *store.GoneError
	switch {
	case errors.As(err, &abort):
		return abort.By == rank
	case errors.As(err, &peer):
		return peer.Rank == rank
	case errors.As(err, &gone):
		first := 0
		if gone.Rank == 0 {
			first = 1
		}
		return rank == first
	}
	return err != nil
}
