package group

import (
	"context"
	"errors"
	"os"
	"time"

	"ovgen/runtime/group/store"
)

// carrier passes open files between the ranks of this machine, outside of the store.
type carrier struct{ group *Group }

// Hand offers files to the peers.
func (c carrier) Hand(files []*os.File) (done func(), err error) {
	config := &c.group.config
	h, err := store.Hand(config.Network, config.Job, config.Rank, files)
	if err != nil {
		return nil, err
	}
	return func() { _ = h.Close() }, nil
}

// Take takes files from a peer, within Config.CallTimeout and until the group is aborted.
func (c carrier) Take(peer, count int) ([]*os.File, error) {
	config := &c.group.config
	ctx, cancel := context.WithTimeout(context.Background(), config.CallTimeout)
	defer cancel()
	go func() { // an abort ends the wait
		select {
		case <-c.group.done:
			cancel()
		case <-ctx.Done():
		}
	}()
	files, err := store.Take(ctx, config.Network, config.Job, peer, count)
	if errors.Is(err, store.ErrFiles) { // most likely the peer has died, and the group is about to learn it
		select {
		case <-c.group.done:
			err = errors.Join(err, c.group.failure())
		case <-time.After(time.Second):
		}
	}
	return files, err
}
