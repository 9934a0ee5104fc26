/** Types of files by what their senders say of them, who may say anything. */
import t from 'tap'
import { cleanName, demuxerOf, isLookedInto, mimeOf } from '../../src/media/formats.ts'

/** What every object has. */
const inherited = ['constructor', '__proto__', 'toString', 'valueOf', 'hasOwnProperty']

t.test('a file has the type of its bytes, of its name, or the one that is told', async (t) => {
  const png = mimeOf('image/png', { name: 'a.txt', mime: 'video/mp4' })
  t.equal(png, 'image/png')
  t.equal(mimeOf('application/zip', { name: 'a.DOCX' }).split('.').at(-1), 'document')
  t.equal(mimeOf(undefined, { name: 'a.md', mime: 'audio/ogg' }), 'text/markdown')
  t.equal(mimeOf(undefined, { name: 'a', mime: 'Audio/OGG; codecs=opus' }), 'audio/ogg')
  t.equal(demuxerOf('audio/ogg; codecs=opus'), 'ogg')
})

t.test('a name that is kept has room for another extension on every file system', async (t) => {
  t.equal(cleanName(`/a/${'語'.repeat(300)}.pdf`), `${'語'.repeat(82)}.pdf`)
  t.equal(cleanName(`${'a'.repeat(300)}.pdf`), `${'a'.repeat(196)}.pdf`)
})

t.test('names that every object has are no types', async (t) => {
  for (const name of inherited) {
    t.equal(mimeOf(undefined, { name: `a.${name}`, mime: name }), 'application/octet-stream', name)
    t.equal(demuxerOf(name), undefined, name)
    t.notOk(isLookedInto(name), name)
  }
})
