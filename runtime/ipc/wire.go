package ipc

import (
	"encoding/binary"
	"errors"
	"fmt"

	"ovgen/runtime/driver"
)

// version of the message; ranks of different versions refuse each other.
const version = 2

const (
	headerBytes = 8
	offerBytes  = 6 * 8
	maxOffers   = 1 << 12
	maxParts    = 1 << 13 // of a message
)

// ErrMessage says that a peer's message is malformed.
var ErrMessage = errors.New("malformed message (all ranks must run the same binary)")

// Offer describes one buffer to the peers: its place in its allocation and, if they do not have it yet, the
// allocation's handle.
type Offer struct {
	Base     driver.Ptr // of the allocation, in the owner's address space
	BufferID uint64     // tells allocations at one address apart
	Size     int64      // of the allocation in bytes
	Offset   int64      // of the buffer in the allocation
	Bytes    int64      // of the buffer
	Handle   *Handle
}

// Handle lets a peer open an allocation: CUDA IPC's handle, or the parts of mapped memory.
type Handle struct {
	Legacy driver.IpcMemHandle
	Parts  []Part // nil: Legacy
}

// Part is one allocation of mapped memory.
type Part struct {
	Bytes  int64
	Fabric *[64]byte  // its fabric handle
	At     driver.Ptr // address of its mapping by a peer of this process; 0 without Fabric: the owner hands a file
}

// file reports whether the owner hands a file for the part.
func (p Part) file() bool { return p.Fabric == nil && p.At == 0 }

// files is the number of files that an offer needs.
func (o Offer) files() (n int) {
	if o.Handle != nil {
		for _, p := range o.Handle.Parts {
			if p.file() {
				n++
			}
		}
	}
	return n
}

// Files is the number of files that the message needs.
func (m Message) Files() (n int) {
	for _, o := range m.Offers {
		n += o.files()
	}
	return n
}

// The kinds of data behind an offer.
const (
	nothing uint64 = iota
	legacyHandle
	mappedParts
)

// fabricMark precedes a part's fabric handle; other parts have their address or 0 in its place.
const fabricMark = 1

// Message is one rank's part of an exchange.
type Message struct {
	Owner  int // rank that owns the buffers
	Offers []Offer
}

// Encode is the encoded message: little endian, a header of version, owner and count, then each offer, followed by its
// handle if it has one.
func (m Message) Encode() []byte {
	le := binary.LittleEndian
	b := le.AppendUint16(nil, version)
	b = le.AppendUint16(b, uint16(m.Owner))
	b = le.AppendUint32(b, uint32(len(m.Offers)))
	for _, o := range m.Offers {
		b = le.AppendUint64(b, uint64(o.Base))
		b = le.AppendUint64(b, o.BufferID)
		b = le.AppendUint64(b, uint64(o.Size))
		b = le.AppendUint64(b, uint64(o.Offset))
		b = le.AppendUint64(b, uint64(o.Bytes))
		b = o.Handle.append(b)
	}
	return b
}

func (h *Handle) append(b []byte) []byte {
	le := binary.LittleEndian
	switch {
	case h == nil:
		return le.AppendUint64(b, nothing)
	case h.Parts == nil:
		return append(le.AppendUint64(b, legacyHandle), h.Legacy[:]...)
	}
	b = le.AppendUint64(b, mappedParts)
	b = le.AppendUint64(b, uint64(len(h.Parts)))
	for _, p := range h.Parts {
		b = le.AppendUint64(b, uint64(p.Bytes))
		if p.Fabric == nil {
			b = le.AppendUint64(b, uint64(p.At))
		} else {
			b = append(le.AppendUint64(b, fabricMark), p.Fabric[:]...)
		}
	}
	return b
}

// Decode reads a message; anything but the output of Encode is an ErrMessage.
func Decode(b []byte) (Message, error) {
	le := binary.LittleEndian
	if len(b) < headerBytes {
		return Message{}, fmt.Errorf("decode ipc message: %d bytes: %w", len(b), ErrMessage)
	}
	if v := le.Uint16(b); v != version {
		return Message{}, fmt.Errorf("decode ipc message: version %d, not %d: %w", v, version, ErrMessage)
	}
	m := Message{Owner: int(le.Uint16(b[2:]))}
	n := le.Uint32(b[4:])
	if n > maxOffers {
		return Message{}, fmt.Errorf("decode ipc message: %d offers: %w", n, ErrMessage)
	}
	b = b[headerBytes:]
	for i := range n {
		o, rest, err := decodeOffer(b)
		if err != nil {
			return Message{}, fmt.Errorf("decode ipc message: offer %d: %w", i, err)
		}
		m.Offers, b = append(m.Offers, o), rest
	}
	if len(b) != 0 {
		return Message{}, fmt.Errorf("decode ipc message: %d bytes too many: %w", len(b), ErrMessage)
	}
	return m, nil
}

func decodeOffer(b []byte) (Offer, []byte, error) {
	if len(b) < offerBytes {
		return Offer{}, nil, fmt.Errorf("cut short: %w", ErrMessage)
	}
	word := func(i int) uint64 { return binary.LittleEndian.Uint64(b[8*i:]) }
	o := Offer{Base: driver.Ptr(word(0)), BufferID: word(1), Size: int64(word(2)), Offset: int64(word(3)),
		Bytes: int64(word(4))}
	carries := word(5)
	b = b[offerBytes:]
	if o.Base == 0 || o.Size <= 0 || o.Offset < 0 || o.Bytes <= 0 || o.Offset > o.Size || o.Bytes > o.Size-o.Offset {
		return Offer{}, nil, fmt.Errorf("%d bytes at %d of %d at %#x: %w", o.Bytes, o.Offset,
			o.Size, o.Base, ErrMessage)
	}
	switch carries {
	case nothing:
		return o, b, nil
	case legacyHandle:
		o.Handle = &Handle{}
		if len(b) < len(o.Handle.Legacy) {
			return Offer{}, nil, fmt.Errorf("handle cut short: %w", ErrMessage)
		}
		return o, b[copy(o.Handle.Legacy[:], b):], nil
	case mappedParts:
		parts, rest, err := decodeParts(b, o.Size)
		o.Handle = &Handle{Parts: parts}
		return o, rest, err
	}
	return Offer{}, nil, fmt.Errorf("handle mark %d: %w", carries, ErrMessage)
}

// decodeParts reads parts that have a number of bytes in all.
func decodeParts(b []byte, size int64) (parts []Part, rest []byte, err error) {
	short := fmt.Errorf("parts cut short: %w", ErrMessage)
	next := func() (n uint64, ok bool) {
		if len(b) < 8 {
			return 0, false
		}
		n, b = binary.LittleEndian.Uint64(b), b[8:]
		return n, true
	}
	count, ok := next()
	if !ok {
		return nil, nil, short
	}
	if count == 0 || count > maxParts {
		return nil, nil, fmt.Errorf("%d parts: %w", count, ErrMessage)
	}
	for range count {
		bytes, ok := next()
		mark, also := next()
		if !ok || !also {
			return nil, nil, short
		}
		p := Part{Bytes: int64(bytes)}
		if p.Bytes <= 0 || p.Bytes > size {
			return nil, nil, fmt.Errorf("a part of %d bytes: %w", p.Bytes, ErrMessage)
		}
		if size -= p.Bytes; mark != fabricMark {
			p.At = driver.Ptr(mark)
		} else {
			if p.Fabric = new([64]byte); len(b) < len(p.Fabric) {
				return nil, nil, short
			}
			b = b[copy(p.Fabric[:], b):]
		}
		parts = append(parts, p)
	}
	if size != 0 {
		return nil, nil, fmt.Errorf("parts that leave %d bytes: %w", size, ErrMessage)
	}
	return parts, b, nil
}
