/** What is shown of a linked page, in the reference's JSON. */
import type { Preview } from '../../../machines/model/content.ts'
import { present } from './chat.ts'

export const previewJson = (preview: Preview | undefined) =>
  preview && {
    link_preview_options: present({
      is_disabled: preview.isOff,
      url: preview.url,
      prefer_small_media: preview.size === 'small' || undefined,
      prefer_large_media: preview.size === 'large' || undefined,
      show_above_text: preview.isAbove,
    }),
  }
