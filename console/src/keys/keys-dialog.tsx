import './overlays.css'
import { Dialog } from '../parts/dialog.tsx'
import { keys, show } from './keyboard.ts'

export const KeysDialog = () => (
  <Dialog title="Keyboard shortcuts" onClose={() => show(null)}>
    <ul class="keys">
      {keys.map(({ keys: pressed, does }) => (
        <li key={pressed}>
          <span>{does}</span>
          <span>
            {pressed.split(' ').map((key) => (
              <kbd key={key}>{key}</kbd>
            ))}
          </span>
        </li>
      ))}
      <li>
        <span>A suggested answer</span>
        <span>
          <kbd>1</kbd> to <kbd>9</kbd>
        </span>
      </li>
      <li>
        <span>Command menu</span>
        <span>
          <kbd>Ctrl</kbd> <kbd>k</kbd>
        </span>
      </li>
      <li>
        <span>Send</span>
        <span>
          <kbd>Ctrl</kbd> <kbd>Enter</kbd>
        </span>
      </li>
    </ul>
  </Dialog>
)
