/** The sandbox learns sticker sets that their makers change: masks, custom emoji, thumbnails, and sets of groups. */
import { Migration } from '@mikro-orm/migrations'

export class SandboxStickerSets extends Migration {
  override up(): void {
    this.addSql(
      `alter table sandbox_sticker_set
         add type text not null default 'regular',
         add needs_repainting boolean not null default false,
         add owner_id bigint references sandbox_person,
         add creator_id bigint references sandbox_person,
         add thumbnail jsonb,
         add holders text[] not null default '{}'`,
    )
    this.addSql('alter table sandbox_chat add sticker_set text')
  }
}
