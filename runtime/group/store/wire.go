package store

import (
	"encoding/binary"
	"fmt"
	"io"
	"net"
)

// version of the protocol; ranks of different versions refuse each other.
const version = 2

// MaxRanks is the largest number of ranks of a job, and thus of a group, of a program, and of a proof.
const MaxRanks = 128

// Bounds of messages.
const (
	MaxBlob  = 256 << 10 // one rank's blob in a Gather, in bytes
	maxText  = 4 << 10   // keys, reasons, job names
	maxHello = 1 << 10
)

// kind of a frame.
type kind byte

const (
	hello    kind = iota + 1 // client: version, rank, size, job
	accepted                 // server: this rank is a member, wait for the others
	refused                  // server: reason
	absent                   // server: the rendezvous failed; missing ranks, notes
	welcome                  // server: all ranks have come
	gather                   // client: key, blob
	giveUp                   // client: key, the reason why it stopped waiting
	result                   // server: every rank's blob
	mismatch                 // server: every rank's key
	missing                  // server: key, ranks that came, ranks that did not, why
	gone                     // server: rank
	decline                  // client, instead of hello: the same fields, and the reason why it can't join
	declined                 // server: rank that can't join, why
	tell                     // client: an empty text, a blob for the other ranks
	told                     // server: rank, its blob
)

// frame builds a message: length of the rest, kind, fields.
type frame []byte

func newFrame(k kind) frame { return frame{0, 0, 0, 0, byte(k)} }

func (f frame) number(n int) frame { return binary.LittleEndian.AppendUint32(f, uint32(n)) }

func (f frame) bytes(b []byte) frame { return append(f.number(len(b)), b...) }

func (f frame) text(s string) frame {
	if len(s) > maxText {
		s = s[:maxText]
	}
	return f.bytes([]byte(s))
}

func (f frame) numbers(list []int) frame {
	f = f.number(len(list))
	for _, n := range list {
		f = f.number(n)
	}
	return f
}

func (f frame) texts(list []string) frame {
	f = f.number(len(list))
	for _, s := range list {
		f = f.text(s)
	}
	return f
}

// send writes the frame in one call.
func (f frame) send(c net.Conn) error {
	binary.LittleEndian.PutUint32(f, uint32(len(f)-4))
	_, err := c.Write(f)
	return err
}

// receive reads one frame of at most limit bytes. An end between two frames is an
// io.EOF; a length out of bounds is an ErrFrame.
func receive(r io.Reader, limit int) (kind, *fields, error) {
	var head [5]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return 0, nil, err
	}
	n := int64(binary.LittleEndian.Uint32(head[:]))
	if n < 1 || n > int64(limit) {
		return 0, nil, fmt.Errorf("%w: %d bytes", ErrFrame, n)
	}
	body := make([]byte, n-1)
	if _, err := io.ReadFull(r, body); err != nil {
		return 0, nil, fmt.Errorf("read a frame of %d bytes: %w", n, err)
	}
	return kind(head[4]), &fields{rest: body}, nil
}

// fields reads a frame's payload; after the first mistake it reads no more.
type fields struct {
	rest []byte
	bad  bool
}

func (f *fields) number() int {
	if len(f.rest) < 4 {
		f.rest, f.bad = nil, true
		return 0
	}
	n := binary.LittleEndian.Uint32(f.rest)
	f.rest = f.rest[4:]
	return int(n)
}

func (f *fields) bytes() []byte {
	n := f.number()
	if n > len(f.rest) {
		f.rest, f.bad = nil, true
		return nil
	}
	b := f.rest[:n:n]
	f.rest = f.rest[n:]
	return b
}

func (f *fields) text() string { return string(f.bytes()) }

// rank is a number below size.
func (f *fields) rank(size int) int {
	n := f.number()
	if n >= size {
		f.rest, f.bad = nil, true
		return 0
	}
	return n
}

// ranks is a list of numbers below size.
func (f *fields) ranks(size int) []int {
	var list []int
	for n := f.count(); n > 0 && !f.bad; n-- {
		list = append(list, f.rank(size))
	}
	return list
}

func (f *fields) texts() []string {
	var list []string
	for n := f.count(); n > 0 && !f.bad; n-- {
		list = append(list, f.text())
	}
	return list
}

// count is the length of a list. Each item has at least the four bytes of a number.
func (f *fields) count() int {
	n := f.number()
	if n > len(f.rest)/4 {
		f.rest, f.bad = nil, true
		return 0
	}
	return n
}

// end fails unless the whole payload was read.
func (f *fields) end() error {
	if f.bad || len(f.rest) > 0 {
		return ErrFrame
	}
	return nil
}
