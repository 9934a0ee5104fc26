/** Finds the entities that a text carries by itself, in sent and received texts alike. */

import { findCommands, findMentions } from './detect/names.ts'
import { findPhones } from './detect/phones.ts'
import { findTags } from './detect/tags.ts'
import { findUrls } from './detect/urls.ts'
import { sortEntities } from './order.ts'
import { dropOverlapping } from './overlap.ts'
import type { MessageEntity } from './types.ts'

export function detectEntities(text: string): MessageEntity[] {
  const found = [findMentions, findCommands, findTags, findUrls, findPhones]
  return dropOverlapping(sortEntities(found.flatMap((find) => find(text))))
}
