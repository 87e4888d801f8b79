package ipc

import (
	"encoding/binary"
	"errors"
	"fmt"

	"ovgen/runtime/driver"
)

// version of the message; ranks of different versions refuse each other.
const version = 1

const (
	headerBytes = 8
	offerBytes  = 6 * 8
	maxOffers   = 1 << 12
)

// ErrMessage says that a peer's message can't be understood.
var ErrMessage = errors.New("malformed message (all ranks must run the same binary)")

// Offer describes one buffer to the peers: where it lies in its allocation and,
// when they do not have it yet, the allocation's handle.
type Offer struct {
	Base     driver.Ptr // of the allocation, in the owner's address space
	BufferID uint64     // tells allocations at one address apart
	Size     int64      // of the allocation in bytes
	Offset   int64      // of the buffer in the allocation
	Bytes    int64      // of the buffer
	Handle   *driver.IpcMemHandle
}

// Message is one rank's part of an exchange.
type Message struct {
	Owner  int // rank that owns the buffers
	Offers []Offer
}

// Encode is the message as it travels: little endian, a header of version, owner
// and count, then each offer with its handle where it carries one.
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
		if o.Handle == nil {
			b = le.AppendUint64(b, 0)
			continue
		}
		b = le.AppendUint64(b, 1)
		b = append(b, o.Handle[:]...)
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
	switch {
	case o.Base == 0 || o.Size <= 0 || o.Offset < 0 || o.Bytes <= 0 || o.Offset > o.Size || o.Bytes > o.Size-o.Offset:
		return Offer{}, nil, fmt.Errorf("%d bytes at %d of %d at %#x: %w", o.Bytes, o.Offset,
			o.Size, o.Base, ErrMessage)
	case carries > 1:
		return Offer{}, nil, fmt.Errorf("handle mark %d: %w", carries, ErrMessage)
	case carries == 1 && len(b) < len(driver.IpcMemHandle{}):
		return Offer{}, nil, fmt.Errorf("handle cut short: %w", ErrMessage)
	case carries == 1:
		h := driver.IpcMemHandle(b[:len(driver.IpcMemHandle{})])
		o.Handle, b = &h, b[len(h):]
	}
	return o, b, nil
}
