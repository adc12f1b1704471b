package loop

// chunkSize is how many events a queue grows by: 2 KiB.
const chunkSize = 128

type chunk struct {
	events [chunkSize]OutputEvent
	next   *chunk
}

// queue is a FIFO whose memory follows its length. The zero value is empty and
// holds none.
type queue struct {
	head, tail *chunk
	from, to   int // the first event in head, the free slot in tail
	n          int
}

func (q *queue) push(ev OutputEvent) {
	switch {
	case q.tail == nil:
		q.head = &chunk{}
		q.tail, q.from, q.to = q.head, 0, 0
	case q.to == chunkSize:
		q.tail.next = &chunk{}
		q.tail, q.to = q.tail.next, 0
	}
	q.tail.events[q.to] = ev
	q.to++
	q.n++
}

// front returns the oldest event; the queue must not be empty.
func (q *queue) front() OutputEvent { return q.head.events[q.from] }

// pop drops the oldest event; the queue must not be empty.
func (q *queue) pop() {
	q.head.events[q.from] = nil
	q.from++
	q.n--
	switch {
	case q.n == 0:
		q.from, q.to = 0, 0
		q.head = q.tail
	case q.from == chunkSize:
		q.head, q.from = q.head.next, 0
	}
}

// release gives the memory back.
func (q *queue) release() { *q = queue{} }
