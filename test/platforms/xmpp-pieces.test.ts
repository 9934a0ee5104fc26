/** However what comes in is cut, it is read as the same, and in one go. */
import t from 'tap'
import { Pieces } from '../../src/platforms/xmpp/transport.ts'

t.test('what is cut anywhere comes out whole', async (t) => {
  const said = `<a b='1 > 0'><c/> \n text &gt; </a>\n<d>${' '.repeat(40)}</d>`
  for (let size = 1; size <= said.length; size++) {
    const pieces = new Pieces()
    let read = ''
    for (let at = 0; at < said.length; at += size) read += pieces.take(said.slice(at, at + size))
    t.equal(read, said, `cut after each ${size}`)
  }
})

t.test('a text is held until its tag comes', async (t) => {
  const pieces = new Pieces()
  t.equal(pieces.take('<body>a long '), '<body>')
  t.equal(pieces.take('text that goes on'), '')
  t.equal(pieces.take(' and on</body> '), 'a long text that goes on and on</body> ')
  t.equal(pieces.take('\n'), '\n', 'nothing is kept of what keeps a connection alive')
})
