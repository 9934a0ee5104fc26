/** Entity of the paths that getFile gives out. */
import { defineEntity, p } from '@mikro-orm/core'

/** What the path leads to. */
export interface PathFile {
  readonly file: { readonly native: string } | { readonly blob: string }
  readonly name?: string
  readonly mime?: string
  readonly size?: number
}

export const MediaPath = defineEntity({
  name: 'MediaPath',
  tableName: 'media_path',
  properties: {
    credentialId: p.bigint('number').primary(),
    path: p.text().primary(),
    number: p.integer(),
    source: p.text(),
    file: p.json().$type<PathFile>(),
    expiresAt: p.datetime(),
  },
})
