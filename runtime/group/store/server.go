package store

import (
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// handshakeTimeout bounds the handshake of a connection that has one, helloTimeout the time that a connection may be
// silent after it, and flushTimeout the time that a connection that does not read can delay a frame.
const (
	handshakeTimeout = time.Second
	helloTimeout     = 5 * time.Second
	flushTimeout     = time.Second
)

// server is rank 0's side. One goroutine, serve, owns the state; a reader and a
// writer for each connection talk to it over channels.
type server struct {
	Config
	listener net.Listener
	events   chan event
	quit     chan struct{}
	wg       sync.WaitGroup
	lobby    lobby
	slots    chan struct{} // one for each connection that has greeted, which bounds their number

	members []*member
	came    map[int]bool  // ranks that have ever been members
	all     chan struct{} // closed when all ranks have been members
	rivals  []rival
	settled <-chan time.Time // ends the rivals' wait
	notes   []string
	open    bool  // the rendezvous is complete
	dead    frame // the end of the job; the answer to every later Gather
	round   round
	bound   atomic.Int64 // of a Gather, in nanoseconds
}

// member is a rank's connection.
type member struct {
	rank  int
	conn  net.Conn
	out   chan frame
	knows bool // whether the rank knows that it is a member: its first frame has been sent
}

// event is a member's frame, the report that its acceptance was sent, or the end of its connection.
type event struct {
	from *member
	kind kind
	key  string
	blob []byte
	err  error
	says greeting
}

// greeting is the content of a hello.
type greeting struct {
	version, rank, size int
	job                 string
	declines            bool
	reason              string // for declining
}

func listen(c Config) (*server, error) {
	l, err := c.Network.Listen(c.Job)
	if err != nil {
		return nil, err
	}
	s := &server{Config: c, listener: l, events: make(chan event), quit: make(chan struct{}),
		slots: make(chan struct{}, 3*c.Size+16), members: make([]*member, c.Size),
		came: map[int]bool{}, all: make(chan struct{})}
	s.bound.Store(int64(c.Timeout))
	s.wg.Add(2)
	go s.accept()
	go s.serve()
	return s, nil
}

// close ends the job once all queued messages have been written.
func (s *server) close() error {
	close(s.quit)
	err := s.listener.Close()
	s.wg.Wait()
	return err
}

func (s *server) accept() {
	defer s.wg.Done()
	for {
		c, err := s.listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil { // no descriptor is free
			s.lobby.drop()
			select {
			case <-time.After(10 * time.Millisecond):
				continue
			case <-s.quit:
				return
			}
		}
		s.lobby.enter(c)
		s.wg.Add(1)
		go s.read(c)
	}
}

// read turns a connection into events: one for its hello, then one for each frame.
func (s *server) read(c net.Conn) {
	defer s.wg.Done()
	stop := make(chan struct{})
	defer close(stop)
	s.wg.Add(1)
	go func() { // a reader must not outlive the server
		defer s.wg.Done()
		select {
		case <-s.quit:
			c.SetReadDeadline(time.Unix(1, 0))
		case <-stop:
		}
	}()
	g, ok := s.admit(c)
	if !ok {
		return
	}
	m := &member{conn: c, out: make(chan frame, 16+4*s.Size)}
	s.limit(c, 0)
	s.wg.Add(1)
	go s.write(m)
	if !s.tell(event{from: m, kind: hello, says: g}) {
		close(m.out)
		return
	}
	for {
		e := s.next(m)
		if !s.tell(e) || e.err != nil {
			return
		}
	}
}

// admit reads a connection's greeting, after its handshake, and gives the connection a slot, or closes it.
func (s *server) admit(c net.Conn) (greeting, bool) {
	var err error
	if secured, ok := c.(interface{ Handshake() error }); ok {
		s.limit(c, handshakeTimeout)
		err = secured.Handshake()
	}
	var g greeting
	if err == nil {
		s.limit(c, helloTimeout)
		g, err = readGreeting(c)
	}
	taken := false
	if err == nil {
		select {
		case s.slots <- struct{}{}:
			taken = true
		default:
		}
	}
	if !taken {
		c.Close() // the lobby still counts the connection
	}
	stays := s.lobby.leave(c, taken)
	if taken && !stays {
		<-s.slots
	}
	return g, stays
}

// limit bounds the reads of a connection, unless the server has ended; 0 means no bound.
func (s *server) limit(c net.Conn, d time.Duration) {
	end := time.Time{}
	if d > 0 {
		end = time.Now().Add(d)
	}
	c.SetReadDeadline(end)
	select {
	case <-s.quit:
		c.SetReadDeadline(time.Unix(1, 0))
	default:
	}
}

// readGreeting reads a connection's first frame.
func readGreeting(r io.Reader) (greeting, error) {
	k, f, err := receive(r, maxHello+maxText)
	if err != nil {
		return greeting{}, err
	}
	if k != hello && k != decline {
		return greeting{}, ErrFrame
	}
	g := greeting{version: f.number(), declines: k == decline}
	if g.version != version && !f.bad {
		return g, nil // other versions may send more, or less
	}
	g.rank, g.size, g.job = f.number(), f.number(), f.text()
	if g.declines {
		g.reason = f.text()
	}
	return g, f.end()
}

// next reads one frame of a member.
func (s *server) next(m *member) event {
	e, err := readRequest(m.conn)
	e.from, e.err = m, err
	return e
}

// readRequest reads a member's message after its greeting.
func readRequest(r io.Reader) (event, error) {
	k, f, err := receive(r, MaxBlob+2*maxText)
	if err != nil {
		return event{}, err
	}
	e := event{kind: k, key: f.text(), blob: f.bytes()}
	if f.end() != nil || k != gather && k != giveUp && k != tell || len(e.key) > maxText || len(e.blob) > MaxBlob {
		return event{}, ErrFrame
	}
	return e, nil
}

// hangUp ends a connection and frees its slot.
func (s *server) hangUp(c net.Conn) {
	c.Close()
	<-s.slots
}

// tell passes an event to serve; it returns false when the server ends.
func (s *server) tell(e event) bool {
	select {
	case s.events <- e:
		return true
	case <-s.quit:
		return false
	}
}

// write sends the messages that serve queues, and closes the connection after the last. A member that misses a frame is
// cut off: its rank dials again, or learns that it is gone.
func (s *server) write(m *member) {
	defer s.wg.Done()
	var err error
	greeted := false
	for f := range m.out {
		if err == nil {
			m.conn.SetWriteDeadline(time.Now().Add(flushTimeout))
			switch err = f.send(m.conn); {
			case err != nil:
				s.drop(m)
			case !greeted:
				greeted = s.tell(event{from: m, kind: accepted})
			}
		}
	}
	s.hangUp(m.conn)
}

// serve owns the state until close.
func (s *server) serve() {
	defer s.wg.Done()
	rendezvous := time.NewTimer(s.Timeout)
	defer rendezvous.Stop()
	outs := map[*member]bool{}
	for {
		select {
		case e := <-s.events:
			switch {
			case e.err != nil:
				s.lost(e.from, e.err)
				close(e.from.out)
				delete(outs, e.from)
			case e.kind == hello:
				outs[e.from], e.from.rank = true, -1
				s.greet(rival{e.from, e.says}, false)
			case e.kind == accepted:
				e.from.knows = true
				s.meet()
			default:
				s.member(e)
			}
		case <-s.settled:
			s.settle(true)
		case <-rendezvous.C:
			if !s.open {
				s.settle(true)
				s.end(newFrame(absent).numbers(s.missing()).texts(append(s.notes, s.lobby.notes()...)))
			}
		case <-s.round.timeout:
			s.fail(fmt.Sprintf("did not within %v", s.round.bound), s.absentees())
		case <-s.quit:
			for m := range outs {
				close(m.out)
			}
			return
		}
	}
}

// lost handles the end of a connection. If the connection is a member's, its rank is gone, or a rival takes its place.
func (s *server) lost(m *member, err error) {
	s.rivals = slices.DeleteFunc(s.rivals, func(x rival) bool { return x.member == m })
	if m.rank < 0 || s.members[m.rank] != m {
		return
	}
	if !s.open {
		s.members[m.rank] = nil
		s.note(fmt.Sprintf("rank %d came and left", m.rank))
		s.settle(false)
		return
	}
	s.members[m.rank] = nil
	if !errors.Is(err, io.EOF) && s.dead == nil {
		s.note(fmt.Sprintf("rank %d: %v", m.rank, err))
	}
	s.end(newFrame(gone).number(m.rank))
}

// end makes f the answer to every later request and sends it to every member.
func (s *server) end(f frame) {
	if s.dead != nil {
		return // all members have this answer, and read no more
	}
	s.dead = f
	s.broadcast(f)
	s.settle(true)
}

func (s *server) broadcast(f frame) {
	for _, m := range slices.Clone(s.members) {
		if m != nil {
			s.push(m, slices.Clone(f))
		}
	}
}

// push queues a frame; a member that does not read is dropped.
func (s *server) push(m *member, f frame) {
	select {
	case m.out <- f:
	default:
		s.drop(m)
	}
}

// drop cuts a member off: its reader then reports the end.
func (s *server) drop(m *member) { m.conn.SetReadDeadline(time.Unix(1, 0)) }
