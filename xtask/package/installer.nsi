; The installer for Windows. `cargo xtask package` defines VERSION, FILES (the folder with what is installed), COMPRESSOR
; and OUT.
Unicode true
!include "MUI2.nsh"
!include "x64.nsh"

Name "Tone Filter ${VERSION}"
OutFile "${OUT}"
InstallDir "$PROGRAMFILES64\Tone Filter"
RequestExecutionLevel admin
SetCompressor /SOLID ${COMPRESSOR}

!define UNINSTALL "Software\Microsoft\Windows\CurrentVersion\Uninstall\Tone Filter"

!insertmacro MUI_PAGE_LICENSE "${FILES}\LICENSE-MIT"
!insertmacro MUI_PAGE_COMPONENTS
!insertmacro MUI_PAGE_INSTFILES
!insertmacro MUI_UNPAGE_CONFIRM
!insertmacro MUI_UNPAGE_INSTFILES
!insertmacro MUI_LANGUAGE "English"

Function .onInit
  ${IfNot} ${RunningX64}
    MessageBox MB_ICONSTOP "Tone Filter needs a 64-bit Windows." /SD IDOK
    Abort
  ${EndIf}
  SetRegView 64
FunctionEnd

Function un.onInit
  SetRegView 64
FunctionEnd

Section "-files"
  SetOutPath "$INSTDIR"
  File "${FILES}\README.md"
  File "${FILES}\CHANGELOG.md"
  File "${FILES}\LICENSE-MIT"
  File "${FILES}\LICENSE-APACHE"
  WriteUninstaller "$INSTDIR\uninstall.exe"
  WriteRegStr HKLM "${UNINSTALL}" "DisplayName" "Tone Filter"
  WriteRegStr HKLM "${UNINSTALL}" "DisplayVersion" "${VERSION}"
  WriteRegStr HKLM "${UNINSTALL}" "UninstallString" '"$INSTDIR\uninstall.exe"'
  WriteRegStr HKLM "${UNINSTALL}" "QuietUninstallString" '"$INSTDIR\uninstall.exe" /S'
  WriteRegDWORD HKLM "${UNINSTALL}" "NoModify" 1
  WriteRegDWORD HKLM "${UNINSTALL}" "NoRepair" 1
SectionEnd

Section "CLAP plugin"
  SetOutPath "$COMMONFILES64\CLAP"
  File "${FILES}\Tone Filter.clap"
SectionEnd

Section "VST3 plugin"
  SetOutPath "$COMMONFILES64\VST3"
  File /r "${FILES}\Tone Filter.vst3"
SectionEnd

Section "Command and standalone program"
  SetOutPath "$INSTDIR"
  File "${FILES}\tone-filter.exe"
  CreateShortcut "$SMPROGRAMS\Tone Filter.lnk" "$INSTDIR\tone-filter.exe" "app"
SectionEnd

Section "Uninstall"
  Delete "$COMMONFILES64\CLAP\Tone Filter.clap"
  RMDir /r "$COMMONFILES64\VST3\Tone Filter.vst3"
  Delete "$SMPROGRAMS\Tone Filter.lnk"
  Delete "$INSTDIR\tone-filter.exe"
  Delete "$INSTDIR\README.md"
  Delete "$INSTDIR\CHANGELOG.md"
  Delete "$INSTDIR\LICENSE-MIT"
  Delete "$INSTDIR\LICENSE-APACHE"
  Delete "$INSTDIR\uninstall.exe"
  RMDir "$INSTDIR"
  DeleteRegKey HKLM "${UNINSTALL}"
SectionEnd
