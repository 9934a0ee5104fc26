/** The export of the audit log: all of it, page by page. */
import t from 'tap'
import { type AuditQuery, exportChanges } from '../../src/audit/read.ts'
import type { AuditRecord } from '../../src/records/audit.ts'

const query = {
  userId: 1,
  withService: false,
  action: 'key',
  target: undefined,
  targetId: undefined,
  since: undefined,
  until: undefined,
}

/** So many changes, the newest first, and the pages that are asked for. */
function log(count: number) {
  const all = Array.from({ length: count }, (_, place) => ({ id: count - place }) as AuditRecord)
  const asked: AuditQuery[] = []
  const read = async (page: AuditQuery) => {
    asked.push(page)
    return all
      .filter(({ id }) => page.before === undefined || id < page.before)
      .slice(0, page.limit)
  }
  return { all, asked, read }
}

t.test('an export has each change once, however many pages it has', async (t) => {
  for (const [count, pages] of [
    [0, 1],
    [499, 1],
    [500, 2],
    [501, 2],
    [1_200, 3],
  ] as const) {
    const { all, asked, read } = log(count)
    let text = ''
    for await (const piece of exportChanges(read, query)) text += piece
    const lines = text.split('\n')
    t.equal(lines.pop(), '', 'each line has an end')
    t.same(
      lines.map((line) => JSON.parse(line)),
      all,
    )
    t.equal(asked.length, pages, `${count}`)
    t.same(asked.at(0), { ...query, before: undefined, limit: 500 })
  }
})
