/** Names of files as bots read them: many bots save a file under the name that a stranger gave it. */
import t from 'tap'
import { mediaJson } from '../../src/bot-api/present/content.ts'

const ids = { chat: () => 1, message: () => 1, isOwn: () => false, file: () => 'id' }

function shown(name: string): string {
  const media = { kind: 'document', file: { native: 'x' }, name } as const
  const content = { kind: 'media', media, caption: { text: '', entities: [] } } as const
  const { document } = mediaJson(content, ids) as { document: { file_name: string } }
  return document.file_name
}

t.test('a name leads nowhere', async (t) => {
  t.equal(shown('../../etc/passwd'), '.._.._etc_passwd')
  t.equal(shown('C:\\a\0b\n.txt'), 'C__a_b_.txt')
  t.equal(shown('d:run.bat'), 'd_run.bat', 'another drive, in the folder it is in')
  for (const name of ['.', '..', '/', '\0']) t.equal(shown(name), '_')
})

t.test('one that is very long keeps its end, and no half of a character', async (t) => {
  const long = shown(`${'😀'.repeat(1_000)}.pdf`)
  t.ok(long.length <= 255 && long.isWellFormed() && long.endsWith('😀.pdf'))
  for (const letter of ['a', 'س', '語', '😀']) {
    for (const start of ['', 'b', 'bc', 'bcd']) {
      const name = shown(`${start}${letter.repeat(255)}.pdf`)
      const bytes = Buffer.byteLength(name)
      t.ok(bytes <= 255 && bytes > 251, `${bytes} bytes, which file systems take`)
      t.match(name, new RegExp(`^${letter}+\\.pdf$`, 'u'))
    }
  }
  t.equal(shown(`${'x'.repeat(300)}\ud83d.pdf`), `${'x'.repeat(248)}\ufffd.pdf`)
})

t.test('all others stay as they are', async (t) => {
  for (const name of ['گزارش‌ها.pdf', '.profile', '...', 'a b (1).txt', '👨‍👩‍👧.png', '12:30.png'])
    t.equal(shown(name), name)
})
