/** Finds the entities that a text carries by itself, in sent and received texts alike. */

import { findCommands, findMentions, findPhones, findTags } from './detect/names.ts'
import { findUrls } from './detect/urls.ts'
import { sortEntities } from './order.ts'
import { dropOverlapping } from './overlap.ts'
import type { MessageEntity } from './types.ts'

/** A text without any of its marks need not be searched for an entity: most texts have none. */
const finders = [
  { marks: /@/, find: findMentions },
  { marks: /\//, find: findCommands },
  { marks: /[#$]/, find: findTags },
  { marks: /[.:]/, find: findUrls },
  { marks: /\+/, find: findPhones },
]

export function detectEntities(text: string): MessageEntity[] {
  const found = finders.flatMap(({ marks, find }) => (marks.test(text) ? find(text) : []))
  return found.length === 0 ? found : dropOverlapping(sortEntities(found))
}
