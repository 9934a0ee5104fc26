/** A file in a message: a picture is shown, a live photo plays its film, anything else can be saved. */

import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useEffect, useState } from 'react'
import { ApiFailure } from '../../api/failure.ts'
import { stickerSetsQuery } from '../../api/sandbox.ts'
import type { Media, StickerSet } from '../../api/sandbox-types.ts'
import { accessToken } from '../../api/session.ts'
import { useFormats } from '../../i18n/formats.ts'
import { useT } from '../../i18n/language.tsx'
import { Button } from '../../ui/button.tsx'
import { useReason } from '../../ui/states.tsx'
import { useToast } from '../../ui/toasts.tsx'

/** A file of the service, which wants the access token that an image's address cannot carry. */
async function bytesOf(path: string, type: string, signal: AbortSignal): Promise<Blob> {
  const authorization = `Bearer ${await accessToken()}`
  const response = await fetch(path, { headers: { authorization }, signal, credentials: 'omit' })
  if (!response.ok) throw new ApiFailure(response.status, response.statusText)
  return new Blob([await response.arrayBuffer()], { type })
}

export const isPicture = ({ type, mime_type = '' }: Media) =>
  type === 'photo' || (type === 'sticker' && !/video|json/.test(mime_type))

export function Attachment({ media }: { readonly media: Media }) {
  if (media.live) return <LivePhoto media={media} film={media.live} />
  return isPicture(media) ? <Picture media={media} /> : <Other media={media} />
}

type Shown = Omit<Media, 'live'>

/** An address of the file's bytes within this page, once they are there. */
function useFile({ file, url, mime_type }: Shown, type: string) {
  const { data, isError } = useQuery({
    queryKey: ['sandbox', 'file', file],
    queryFn: ({ signal }) => bytesOf(url, mime_type ?? type, signal),
    staleTime: Number.POSITIVE_INFINITY,
  })
  const [address, setAddress] = useState<string>()
  useEffect(() => {
    if (!data) return
    const made = URL.createObjectURL(data)
    setAddress(made)
    return () => URL.revokeObjectURL(made)
  }, [data])
  return { address, isGone: isError }
}

export function Picture({ media }: { readonly media: Shown }) {
  const t = useT()
  const { address, isGone } = useFile(media, 'image/jpeg')
  const { width = 320, height = 240 } = media
  if (isGone) return <span className="quiet small">{t('messenger.fileGone')}</span>
  return (
    <img
      className="picture"
      src={address}
      alt={media.emoji ?? media.file_name ?? t('messenger.photo')}
      width={width}
      height={height}
    />
  )
}

interface LivePhotoProps {
  readonly media: Media
  readonly film: Shown
}

/** The film runs over the picture as long as the pointer or the focus is on it; a finger holds it. */
function LivePhoto({ media, film }: LivePhotoProps) {
  const t = useT()
  const [isPlaying, setPlaying] = useState(false)
  const play = () => setPlaying(true)
  const stop = () => setPlaying(false)
  return (
    <button
      type="button"
      className="live-photo"
      aria-label={t('messenger.playFilm')}
      onPointerEnter={play}
      onPointerLeave={stop}
      onFocus={play}
      onBlur={stop}
    >
      <Picture media={media} />
      {isPlaying ? <Film film={film} /> : <span className="tiny">{t('messenger.livePhoto')}</span>}
    </button>
  )
}

function Film({ film }: Pick<LivePhotoProps, 'film'>) {
  const { address } = useFile(film, 'video/mp4')
  return address && <video src={address} muted autoPlay loop playsInline />
}

interface CustomEmojiProps {
  readonly id: string | undefined
  /** Shown where the emoji is not known: the ordinary one that it stands for. */
  readonly children: ReactNode
}

export function CustomEmoji({ id, children }: CustomEmojiProps) {
  const stickerIn = (sets: readonly StickerSet[] = []) =>
    sets
      .flatMap(({ stickers }) => stickers)
      .find(({ custom_emoji_id }) => custom_emoji_id !== undefined && custom_emoji_id === id)
  const { data } = useQuery({
    ...stickerSetsQuery,
    // A set may be newer than what was read.
    refetchOnMount: ({ state }) => (stickerIn(state.data) ? false : 'always'),
  })
  const sticker = stickerIn(data)
  if (!sticker || !isPicture(sticker)) return children
  return (
    <span className="custom-emoji">
      <Picture media={sticker} />
    </span>
  )
}

function Other({ media }: { readonly media: Media }) {
  const t = useT()
  const reason = useReason()
  const toast = useToast()
  const { bytes } = useFormats()
  const name = media.file_name ?? t.word('messenger.kind', media.type)
  const save = async () => {
    try {
      const type = 'application/octet-stream'
      const blob = await bytesOf(media.url, type, AbortSignal.timeout(60_000))
      const address = URL.createObjectURL(blob)
      Object.assign(document.createElement('a'), { href: address, download: name }).click()
      URL.revokeObjectURL(address)
    } catch (cause) {
      toast(reason(cause), 'bad')
    }
  }
  return (
    <Button size="slim" icon="copy" onClick={save}>
      <span className="clip">{name}</span>
      {media.file_size !== undefined && (
        <span className="quiet tiny">{bytes(media.file_size)}</span>
      )}
    </Button>
  )
}
