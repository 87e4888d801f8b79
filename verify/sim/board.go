package sim

import (
	"encoding/binary"
	"fmt"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"

	"ovgen/runtime/driver"
)

// board is memory that the ranks of a communicator share, also between processes. Each rank has a row, in which it says
// how far it has come and where its data lies.
type board struct {
	mem []byte
	id  uint64
}

// Words of a row. A rank brings its data to a collective in one of two files, taken in turn: it may begin the next
// collective while another rank still reads.
const (
	rowJoined  = iota
	rowEntered // collectives for which the rank has brought its data
	rowLeft    // collectives that the rank has ended; for an exchange, its incoming half
	rowSent    // for each of two collectives: its call, and the place of its data
	rowWords   = rowSent + 2*sentWords
)

const (
	sentSignature = iota
	sentFile      // process and file number
	sentID        // of the file
	sentTo        // the rank that gets an exchange
	sentSend      // the place of its buffers in the window
	sentRecv
	sentWords
)

const (
	mostRanks  = 256
	boardBytes = 8 * rowWords * mostRanks
)

// shared is a file of memory that other processes open by its process and number.
type shared struct {
	fd  int
	id  uint64
	mem []byte
}

func createShared(bytes int64) (*shared, error) {
	s := &shared{id: globalID()}
	var err error
	if s.fd, err = createFile(fileName(s.id, 0), bytes); err != nil {
		return nil, err
	}
	if s.mem, err = unix.Mmap(s.fd, 0, int(pages(bytes)), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED); err != nil {
		unix.Close(s.fd)
		return nil, err
	}
	return s, nil
}

func (s *shared) close() {
	if s == nil {
		return
	}
	_ = unix.Munmap(s.mem)
	unix.Close(s.fd)
}

// place is where others find the file.
func (s *shared) place() uint64 { return uint64(unix.Getpid())<<32 | uint64(s.fd) }

// openShared maps a file of this or another process.
func openShared(place, id uint64, bytes int64) ([]byte, error) {
	h := handle{pid: uint32(place >> 32), fd: uint32(place), block: id}
	fd, err := h.file()
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	return unix.Mmap(fd, 0, int(pages(bytes)), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
}

// communicatorMagic begins the ids of simulated communicators: "ovgencom".
const communicatorMagic = 0x6d6f636e6567766f

func (s *shared) commID() (id driver.CommID) {
	e := binary.LittleEndian
	e.PutUint64(id[0:], communicatorMagic)
	e.PutUint64(id[8:], s.place())
	e.PutUint64(id[16:], s.id)
	return id
}

// openBoard maps the board of a communicator.
func openBoard(id driver.CommID) (*board, error) {
	e := binary.LittleEndian
	if e.Uint64(id[0:]) != communicatorMagic {
		return nil, fmt.Errorf("the id is none of a simulated communicator")
	}
	b := &board{id: e.Uint64(id[16:])}
	var err error
	b.mem, err = openShared(e.Uint64(id[8:]), b.id, boardBytes)
	return b, err
}

func (b *board) close() { _ = unix.Munmap(b.mem) }

// word of a rank's row.
func (b *board) word(rank, i int) *atomic.Uint64 {
	return (*atomic.Uint64)(unsafe.Pointer(&b.mem[8*(rank*rowWords+i)]))
}

// sent is a word of a rank's row about its data for collective n.
func (b *board) sent(rank int, n uint64, i int) *atomic.Uint64 {
	return b.word(rank, rowSent+int(n%2)*sentWords+i)
}

// all reports whether a word is at least n in each row.
func (b *board) all(ranks, i int, n uint64) bool {
	for r := range ranks {
		if b.word(r, i).Load() < n {
			return false
		}
	}
	return true
}
