/** Whoever waits for a file to arrive learns that it moves, and of no other. */
import t from 'tap'
import { blobMoved, blobsIn, isWatched, watchBlobs } from '../../../actors/credential/perform.ts'
import type { Media } from '../../../machines/model/media.ts'
import type { Operation } from '../../../machines/model/operation.ts'

t.test('watchers of a blob are told until they leave', async (t) => {
  const seen: string[] = []
  const leave = watchBlobs(['a', 'b'], () => seen.push('first'))
  const leaveToo = watchBlobs(['b'], () => seen.push('second'))
  for (const blob of ['a', 'b', 'c']) blobMoved(blob)
  t.strictSame(seen, ['first', 'first', 'second'])
  leave()
  blobMoved('b')
  t.strictSame(seen.slice(3), ['second'])
  t.strictSame(['a', 'b'].map(isWatched), [false, true])
  leaveToo()
  t.notOk(isWatched('b'))
})

t.test('an operation names its blobs wherever it carries files', async (t) => {
  const file = (blob: string): Media => ({ kind: 'photo', file: { blob } })
  const caption = { text: 'blob', entities: [] }
  const album: Operation = {
    kind: 'send_album',
    chat: '1',
    contents: [
      { kind: 'media', media: { ...file('one'), thumbnail: file('two') }, caption },
      { kind: 'media', media: { kind: 'photo', file: { native: 'three' } }, caption },
    ],
  }
  t.strictSame(blobsIn(album).toSorted(), ['one', 'two'])
  t.strictSame(blobsIn({ kind: 'set_profile_photo', photo: file('me') }), ['me'])
  t.strictSame(blobsIn({ kind: 'describe', chat: 'blob' }), [])
})
