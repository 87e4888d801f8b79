package ipc

import (
	"errors"
	"fmt"
	"os"
)

// Carrier passes open files from rank to rank of a machine.
type Carrier interface {
	// Hand lets each peer take the files, in their order, until done is called.
	Hand(files []*os.File) (done func(), err error)
	// Take returns the files that a peer hands; the caller closes them. It returns an error if the peer ends.
	Take(peer, count int) ([]*os.File, error)
}

// Carry sets the Carrier of open files. It is called before the first Exchange; without a Carrier, memory that needs
// open files is not exchanged.
func (c *Cache) Carry(by Carrier) { c.carrier = by }

var errNoCarrier = errors.New("there is no way for open files here")

// hand offers this rank's files, if it has any.
func (c *Cache) hand(files []*os.File) (done func(), err error) {
	switch {
	case len(files) == 0:
		return func() {}, nil
	case c.carrier == nil:
		return func() {}, errNoCarrier
	}
	if done, err = c.carrier.Hand(files); err != nil {
		done = func() {}
	}
	return done, err
}

// takeAll takes the files of all peers. It returns when each rank has taken its files, or with an error on every rank.
// Every rank knows by the messages of all ranks whether there are files, so either all ranks meet again or none does.
// refused is the reason why this rank hands no files.
func (c *Cache) takeAll(gather Gather, blobs [][]byte, refused error) (taken [][]*os.File, err error) {
	taken = make([][]*os.File, len(blobs))
	travels := false
	failed := refused
	for peer, b := range blobs {
		m, err := Decode(b)
		n := m.Files()
		if err != nil || n == 0 { // open reports the mistake
			continue
		}
		travels = true
		if peer == c.rank || !c.reaches(peer) || failed != nil {
			continue
		}
		if c.carrier == nil {
			failed = errNoCarrier
		} else {
			taken[peer], failed = c.carrier.Take(peer, n)
		}
	}
	if !travels {
		return taken, failed
	}
	var mine []byte
	if failed != nil {
		mine = []byte(failed.Error())
	}
	all, err := gather(mine)
	if err != nil {
		return taken, errors.Join(failed, err)
	}
	if failed != nil {
		return taken, failed
	}
	for r, text := range all {
		if len(text) > 0 {
			return taken, fmt.Errorf("take files of shared memory: rank %d: %s", r, text)
		}
	}
	return taken, nil
}
