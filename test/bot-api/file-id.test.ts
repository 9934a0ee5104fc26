/** What clients keep of files: it opens for who it was made for, and for nobody else. */

import t from 'tap'
import { type FileKind, uniqueFileId } from '../../src/bot-api/file-id.ts'
import fc from '../support/fast-check.ts'
import { testFileIds } from '../support/file-ids.ts'

const kinds: FileKind[] = ['photo', 'video', 'animation', 'audio', 'voice', 'video_note']
const text = fc.string({ unit: 'grapheme', minLength: 1 }).filter((value) => !value.includes('\0'))
const file = fc
  .record({ kind: fc.constantFrom(...kinds), native: text, unique: fc.option(text, { nil: null }) })
  .map(({ unique, ...rest }) => ({ ...rest, ...(unique !== null && { unique }) }))
const credential = fc.integer({ min: 1, max: 2 ** 40 })

t.test('what was written is read again, in letters that paths and libraries take', async (t) => {
  fc.assert(
    fc.property(credential, file, (id, named) => {
      const fileId = testFileIds.write(id, named)
      t.match(fileId, /^[\w-]+$/)
      t.same(testFileIds.read(id, fileId), named)
      t.equal(testFileIds.write(id, named), fileId)
    }),
  )
})

t.test('no other credential opens it', async () => {
  fc.assert(
    fc.property(credential, credential, file, (owner, other, named) => {
      fc.pre(owner !== other)
      return testFileIds.read(other, testFileIds.write(owner, named)) === undefined
    }),
  )
})

t.test('a changed byte opens nothing', async () => {
  fc.assert(
    fc.property(
      credential,
      file,
      fc.nat(),
      fc.integer({ min: 1, max: 255 }),
      (id, named, at, by) => {
        const bytes = Buffer.from(testFileIds.write(id, named), 'base64url')
        bytes[at % bytes.length]! ^= by
        return testFileIds.read(id, bytes.toString('base64url')) === undefined
      },
    ),
  )
})

t.test('neither does what nobody wrote', async () => {
  fc.assert(
    fc.property(credential, fc.string(), (id, given) => testFileIds.read(id, given) === undefined),
  )
})

t.test('the unique id is the same for everybody, and another for other bytes', async (t) => {
  t.equal(uniqueFileId('a'), uniqueFileId('a'))
  t.not(uniqueFileId('a'), uniqueFileId('b'))
})
