package ipc

import (
	"errors"
	"fmt"
	"os"
	"sync"

	"ovgen/runtime/driver"
)

// Cache has the exports and imports of one rank of one group. Its methods may be called from any goroutine.
type Cache struct {
	driver  driver.Driver
	guarded *guarded
	rank    int
	local   bool                // the peers are in this process
	reaches func(peer int) bool // reports whether this rank opens a peer's memory
	carrier Carrier

	mu      sync.Mutex
	exports map[identity]*exported
	imports map[key]*imported
	count   Counters
}

// Counters count the work of a cache since it was made.
type Counters struct {
	Messages int // exchanges that this rank took part in
	Bytes    int // bytes of the messages that this rank sent
	Handles  int // handles in the messages that this rank sent
	Files    int // files that this rank handed in addition
	Opens    int // allocations of peers mapped (cuIpcOpenMemHandle, or cuMemMap of all allocations that hold a buffer)
	Closes   int // allocations of peers unmapped
	Hits     int // buffers of peers found in an allocation that was mapped already
}

// identity tells an allocation from every other allocation of its rank.
type identity struct {
	base     driver.Ptr
	bufferID uint64
}

type key struct {
	peer int
	identity
}

// New makes the cache of one rank, which maps its peers' memory by CUDA IPC, or, if mapped, by files and fabrics.
func New(d driver.Driver, rank int) *Cache { return newCache(d, rank) }

// NewLocal makes the cache of one rank whose peers are in its process. The ranks map each other's mapped memory, such
// as memory of the cache's Driver, and reach no other memory.
func NewLocal(d driver.Driver, rank int) *Cache {
	c := newCache(&local{Decorator: driver.Decorator{Driver: d}, sizes: map[driver.Ptr]int64{}}, rank)
	c.local = true
	return c
}

func newCache(d driver.Driver, rank int) *Cache {
	c := &Cache{driver: d, rank: rank, reaches: func(int) bool { return true },
		exports: map[identity]*exported{}, imports: map[key]*imported{}}
	c.guarded = &guarded{Decorator: driver.Decorator{Driver: d}, cache: c}
	return c
}

// Reach limits the peers whose memory the cache opens; others are on other hosts. Call it before the first Exchange.
func (c *Cache) Reach(peers func(peer int) bool) { c.reaches = peers }

// Counters returns the cache's counts so far.
func (c *Cache) Counters() Counters {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.count
}

// Gather is the collective that carries an exchange: it returns all ranks' blobs in rank order, or an error on all.
type Gather func(mine []byte) ([][]byte, error)

// Exchange sends this rank's exports to all peers and opens the peers' exports. For each rank that this rank reaches,
// the result has the rank's buffers in the order of its list, and nothing for this rank. Only allocations that the
// peers do not have carry their handle. If handles are open files, the ranks gather a second time when all have taken
// the files. After an error nothing of this exchange stays open.
func (c *Cache) Exchange(gather Gather, mine []*Export) ([][]*Import, error) {
	blob, files := c.message(mine)
	done, refused := c.hand(files)
	defer done()
	blobs, err := gather(blob)
	if err != nil {
		return nil, errors.Join(refused, err)
	}
	taken, err := c.takeAll(gather, blobs, refused)
	defer func() {
		for _, list := range taken {
			closeFiles(list)
		}
	}()
	if err != nil {
		return nil, err
	}
	c.sent(mine)
	theirs := make([][]*Import, len(blobs))
	for peer, b := range blobs {
		if peer == c.rank || !c.reaches(peer) {
			continue
		}
		theirs[peer], err = c.open(peer, b, taken[peer])
		if err != nil {
			return nil, errors.Join(err, CloseImports(theirs))
		}
	}
	return theirs, nil
}

// message returns the message that this rank sends, and the files that belong to it.
func (c *Cache) message(mine []*Export) (blob []byte, files []*os.File) {
	c.mu.Lock()
	defer c.mu.Unlock()
	m := Message{Owner: c.rank}
	carried := map[*exported]bool{}
	for _, e := range mine {
		o := Offer{Base: e.of.base, BufferID: e.of.bufferID, Size: e.of.size, Offset: e.offset, Bytes: e.bytes}
		if !e.of.sent && !carried[e.of] {
			o.Handle, carried[e.of] = &e.of.handle, true
			c.count.Handles++
			files = append(files, e.of.files...)
		}
		m.Offers = append(m.Offers, o)
	}
	b := m.Encode()
	c.count.Messages++
	c.count.Bytes += len(b)
	c.count.Files += len(files)
	return b, files
}

func (c *Cache) sent(mine []*Export) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, e := range mine {
		e.of.sent = true
		closeFiles(e.of.files)
		e.of.files = nil
	}
}

func (c *Cache) open(peer int, blob []byte, files []*os.File) ([]*Import, error) {
	m, err := Decode(blob)
	if err != nil {
		return nil, fmt.Errorf("open rank %d's memory: %w", peer, err)
	}
	if m.Owner != peer {
		return nil, fmt.Errorf("open rank %d's memory: the message is rank %d's: %w", peer, m.Owner, ErrMessage)
	}
	var opened []*Import
	for i, o := range m.Offers {
		n := o.files()
		im, err := c.acquire(peer, o, files[:n])
		files = files[n:]
		if err != nil {
			err = fmt.Errorf("open rank %d's buffer %d: %w", peer, i, err)
			return nil, errors.Join(err, CloseImports([][]*Import{opened}))
		}
		opened = append(opened, im)
	}
	return opened, nil
}
