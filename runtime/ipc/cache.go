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
	reaches func(peer int) bool // whose memory is opened
	carrier Carrier

	mu      sync.Mutex
	exports map[identity]*exported
	imports map[key]*imported
	count   Counters
}

// Counters count the work of a cache since it was made.
type Counters struct {
	Messages int // exchanges that this rank took part in
	Bytes    int // of the messages this rank sent
	Handles  int // carried by the messages this rank sent
	Files    int // handed beside them
	Opens    int // allocations of peers mapped (cuIpcOpenMemHandle, or cuMemMap of all that a buffer lies in)
	Closes   int // and unmapped
	Hits     int // buffers of peers found in an allocation already mapped
}

// identity tells an allocation from every other one of its rank.
type identity struct {
	base     driver.Ptr
	bufferID uint64
}

type key struct {
	peer int
	identity
}

// New makes the cache of one rank, which reaches its peers' memory by CUDA IPC, and mapped memory by open files and
// fabric handles.
func New(d driver.Driver, rank int) *Cache { return newCache(d, rank) }

// NewLocal makes the cache of one rank whose peers are in its process. They map each other's mapped memory, such as
// that of the cache's Driver, and reach no other.
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

// Reach leaves the memory of other peers than these unopened: they are on other hosts. It is called before the
// first Exchange.
func (c *Cache) Reach(peers func(peer int) bool) { c.reaches = peers }

// Counters returns the cache's counts so far.
func (c *Cache) Counters() Counters {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.count
}

// Gather is the collective an exchange travels by: it returns every rank's blob
// in rank order, or an error on every rank.
type Gather func(mine []byte) ([][]byte, error)

// Exchange tells all peers of our exports and opens theirs: the result holds, for
// each rank that this one reaches, its buffers in the order that rank listed them, and nothing for our
// own. Only allocations that the peers do not have carry their handle. Where handles are open files, the ranks gather
// a second time when all have taken them. After an error nothing of this exchange stays open.
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

// message is the text that this rank sends, and the files that go with it.
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
