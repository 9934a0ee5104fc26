/** The emoji that are reactions: those the reference lists. */
import type { Reaction } from '../../../machines/model/content.ts'

const LISTED = (
  '❤ 👍 👎 🔥 🥰 👏 😁 🤔 🤯 😱 🤬 😢 🎉 🤩 🤮 💩 🙏 👌 🕊 🤡 🥱 🥴 😍 🐳 ❤‍🔥 🌚 🌭 💯 🤣 ⚡ 🍌 🏆 💔 🤨 ' +
  '😐 🍓 🍾 💋 🖕 😈 😴 😭 🤓 👻 👨‍💻 👀 🎃 🙈 😇 😨 🤝 ✍ 🤗 🫡 🎅 🎄 ☃ 💅 🤪 🗿 🆒 💘 🙉 🦄 😘 💊 🙊 😎 ' +
  '👾 🤷‍♂ 🤷 🤷‍♀ 😡'
).split(' ')

/** Custom emoji are not looked into: whoever has their id may use them. */
export const isReaction = (reaction: Reaction): boolean =>
  !('emoji' in reaction) || LISTED.includes(reaction.emoji.replaceAll('\ufe0f', ''))
